// Package automators is the family of tools that can carry out service actions on a node. A member is a package below
// this one that implements family.Automator, and an entry in automators.go. The contract is in app/family/automator.go, the suite
// that every member passes in automatortest, and README.md says how to add one.
//
// Nothing here opens connections or knows SSH: members use a family.Shell.
package automators
