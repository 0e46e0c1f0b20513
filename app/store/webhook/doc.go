// Package webhook keeps hooks of tenants and what they deliver. It uses operation, which waits for the answers of some of them.
package webhook
