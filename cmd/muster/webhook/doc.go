// Package webhook holds `muster hook` and `muster notices`: webhooks that Muster calls, their deliveries and notifications.
//
// It uses cli, and asks a server over the REST API alone.
package webhook
