// Package secret keeps the secrets of tenants. Values are encrypted, and read only when a step needs them.
package secret
