// Package conformance is what is promised of automators, as checks that run within a test (package automatortest) or without one (`muster automator
// test`): on a
// machine that it is given, over the shell that members are given.
package conformance
