// Package automatortest runs, in tests, the checks that every automator passes: see automators/conformance. The member gets a real shell on a
// real machine, over
// SSH: once to a server in this process and once to OpenSSH, both on 127.0.0.1 and without anything to set up.
package automatortest
