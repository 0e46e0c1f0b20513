// Package automators is the list of the tools that can carry out service actions on a node. A member is a package below
// this one that meets app.Automator; to be known it stands on the list in automators.go. The contract is in
// app/automator.go, the suite that every member passes in automatortest, and how to add one in README.md.
//
// Nothing here opens connections or knows SSH: members get an app.Shell.
package automators
