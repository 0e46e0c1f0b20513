// Package feed reads events, log lines and notices, adds log lines, and deletes old ones. Events and notices are written
// by package db, in the transaction of what they tell.
package feed
