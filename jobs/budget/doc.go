// Package budget keeps to the rates at which providers' accounts may be called, together with all other processes that share a
// Redis, and counts the calls.
// It uses the queue's connection to Redis.
package budget
