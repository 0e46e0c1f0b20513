// Package dbtest gives tests of what is kept in a database one that is empty, and tells how a statement finds its rows there.
package dbtest
