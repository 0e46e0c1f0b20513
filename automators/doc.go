// Package automators is the family of tools that can carry out service actions on a node. A member is a package below
// this one that implements app.Automator, and an entry in automators.go. The contract is in app/automator.go, the suite
// that every member passes in automatortest, and README.md says how to add one.
//
// Nothing here opens connections or knows SSH: members use an app.Shell.
package automators
