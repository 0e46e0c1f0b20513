// Package loop has helpers for long-running work: waits that end, back-offs, and trouble that is reported once.
package loop
