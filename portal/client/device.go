package client

import (
	"context"
	"net/http"

	"muster/app"
)

// DeviceCodes are the codes for a device sign-in, with the names of RFC 8628.
type DeviceCodes struct {
	DeviceCode string `json:"device_code"`       // for polling
	UserCode   string `json:"user_code"`         // for the person to enter
	Path       string `json:"verification_path"` // path of the page to enter it on
	ExpiresIn  int    `json:"expires_in"`        // seconds
	Interval   int    `json:"interval"`          // seconds between polls
}

// Devices signs in programs that a person approves in the portal.
type Devices part

// Start starts the sign-in of a program. It needs no token; the scopes are requested.
func (c *Devices) Start(ctx context.Context, host string, scopes []app.Scope) (codes DeviceCodes, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/device/code", nil, map[string]any{"host": host, "scopes": append([]app.Scope{}, scopes...)}, &codes)
	return codes, err
}

// Poll returns an approved token, once. The reasons of its errors are those of RFC 8628: authorization_pending,
// slow_down, access_denied and expired_token.
func (c *Devices) Poll(ctx context.Context, deviceCode string) (m MadeToken, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/device/token", nil, map[string]string{"device_code": deviceCode}, &m)
	return m, err
}
