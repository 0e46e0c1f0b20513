// Package idempotency carries out a request once that is sent twice.
package idempotency
