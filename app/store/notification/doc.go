// Package notification keeps people's inboxes, their preferences, and the emails that are to be sent to them. Package db writes new rows.
package notification
