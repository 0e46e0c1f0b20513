// Package webhook holds `muster hook` and `muster notices`: webhooks, their deliveries, and notifications. It uses cli and
// the REST API only.
package webhook
