package client

import (
	"context"
	"net/http"

	"muster/app"
)

// DeviceCodes are what a program is given that asks to be signed in; the names are those of RFC 8628.
type DeviceCodes struct {
	DeviceCode string `json:"device_code"`       // to ask for the answer with
	UserCode   string `json:"user_code"`         // for the person to type
	Path       string `json:"verification_path"` // of the page to type it at, below the portal's address
	ExpiresIn  int    `json:"expires_in"`        // seconds
	Interval   int    `json:"interval"`          // seconds between two looks for the answer
}

// Devices signs programs in that a person allows at the portal.
type Devices part

// Start begins the sign-in of a program. It needs no token; the scopes are a wish.
func (c *Devices) Start(ctx context.Context, host string, scopes []app.Scope) (codes DeviceCodes, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/device/code", nil, map[string]any{"host": host, "scopes": append([]app.Scope{}, scopes...)}, &codes)
	return codes, err
}

// Poll returns the token that someone has allowed, once. The reasons of its errors are those of RFC 8628: authorization_pending,
// slow_down, access_denied and expired_token.
func (c *Devices) Poll(ctx context.Context, deviceCode string) (m MadeToken, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/device/token", nil, map[string]string{"device_code": deviceCode}, &m)
	return m, err
}
