// Package audit reads the audit log, and verifies the chain of each tenant. Entries are written by package db, in the
// transaction of what they tell.
package audit
