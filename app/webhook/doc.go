// Package webhook manages webhooks, which tell other systems what happens in a tenant, and shows their deliveries. They
// are sent by jobs/webhook. It uses no other domain.
package webhook
