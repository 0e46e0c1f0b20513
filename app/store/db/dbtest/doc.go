// Package dbtest opens empty databases for tests, and says how a statement finds its rows there.
package dbtest
