// Package policy decides what may be asked for: policies and quotas.
// It uses no other domain.
package policy
