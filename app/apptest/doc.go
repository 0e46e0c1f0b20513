// Package apptest has what tests of app's contracts share: the suites that every store and every coordinator passes, a
// clock that only the test moves, a PostgreSQL server, and small plans.
package apptest
