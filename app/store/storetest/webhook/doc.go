// Package webhook has the cases of every store about webhooks: deliveries in order, and operations that wait for hooks. It uses kit.
package webhook
