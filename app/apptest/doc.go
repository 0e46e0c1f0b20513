// Package apptest helps to test against app's contracts: the suite that every store passes, a clock that stands still
// until it is moved, and small plans to try things on.
package apptest
