package wire

import (
	"time"

	"muster/app"
)

// Notice is a notice with its links, as paths of the portal.
type Notice struct {
	app.Notice
	// Path is the notice's page, such as /clusters/web-1; Action is the page of the most likely action, labelled ActionName, such as "Extend".
	Path       string `json:"path,omitempty"`
	Action     string `json:"action,omitempty"`
	ActionName string `json:"action_name,omitempty"`
}

// InboxItem is a notification in someone's inbox.
type InboxItem struct {
	Notice
	ReadAt *time.Time `json:"read_at,omitempty" doc:"When you read it; omitted while unread"`
}

// Inbox is a page of someone's notifications.
type Inbox struct {
	Notifications []InboxItem `json:"notifications"`
	Unread        int         `json:"unread" doc:"Unread notifications, counted up to 100"`
	Next          int64       `json:"next,omitempty" doc:"Value of before for the next page; omitted on the last page"`
}
