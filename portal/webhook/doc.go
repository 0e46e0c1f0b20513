// Package webhook holds the pages and REST operations of webhooks with their deliveries, and of notifications. It uses packages page
// and site only.
package webhook
