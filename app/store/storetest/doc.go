// Package storetest opens stores for tests, from a copy of tables that are created once: under the race detector,
// creating them takes longer than most tests.
package storetest
