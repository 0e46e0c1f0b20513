// Package notification holds people's notifications: the list, opening one, and the preferences; and the REST operations of both.
package notification
