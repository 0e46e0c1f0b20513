package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"muster/app/notification"
	"muster/portal/wire"
)

// Inbox is what the caller was notified of.
type Inbox part

// List lists notifications before a number, newest first; 0 starts with the newest.
func (c *Inbox) List(ctx context.Context, unread bool, before int64, limit int) (list wire.Inbox, err error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	if unread {
		q.Set("unread", "true")
	}
	err = c.client.CallInto(ctx, "/inbox", q, &list)
	return list, err
}

// Read marks notifications as read, and returns how many were unread.
func (c *Inbox) Read(ctx context.Context, m notification.Mark) (int, error) {
	var out struct {
		Read int `json:"read"`
	}
	err := c.client.Call(ctx, http.MethodPost, "/inbox/read", nil, m, &out)
	return out.Read, err
}

// Preferences shows how the caller is notified.
func (c *Inbox) Preferences(ctx context.Context) (p notification.Preferences, err error) {
	err = c.client.CallInto(ctx, "/inbox/preferences", nil, &p)
	return p, err
}

// SavePreferences changes how the caller is notified.
func (c *Inbox) SavePreferences(ctx context.Context, changes []notification.Change) (p notification.Preferences, err error) {
	err = c.client.Call(ctx, http.MethodPut, "/inbox/preferences", nil, map[string][]notification.Change{"kinds": changes}, &p)
	return p, err
}
