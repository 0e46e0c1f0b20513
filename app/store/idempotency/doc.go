// Package idempotency keeps idempotency keys with the answers to their requests. Package db notes with each write that the
// request of a key has changed something.
package idempotency
