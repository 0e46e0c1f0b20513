// Package quarantine lists failed machines that are kept for inspection. Each is in a cluster of its own, which operations begin and end; see KeepMachine in
// app/store/operation.
package quarantine
