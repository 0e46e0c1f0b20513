// Package window holds changes back until a maintenance window opens: when windows are, what waits for them, and who sets them. The rules
// are pure; times are read as in package schedule. What waits is a request, see package operation: this package starts nothing itself.
package window
