// Package webhook keeps the webhooks of tenants and their deliveries. It uses package operation, since operations wait
// for the answers of some webhooks.
package webhook
