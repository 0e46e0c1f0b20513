// Package notification has the commands of people's notifications.
package notification
