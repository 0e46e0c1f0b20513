// Package webhook holds `muster webhook` and `muster notifications`: webhooks, their deliveries, and notifications. It uses cli and
// the REST API only.
package webhook
