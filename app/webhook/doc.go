// Package webhook keeps the hooks that tell other systems what happens, and their deliveries.
// It uses no other domain.
package webhook
