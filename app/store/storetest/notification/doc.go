// Package notification has what every store does with inboxes.
package notification
