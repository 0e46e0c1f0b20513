// Package shell runs scripts on static machines over SSH. It keeps one connection for a machine, bounds how many handshakes run at once, and holds
// every machine to its host key. It never sends a script twice: one whose connection is lost may or may not have run.
package shell
