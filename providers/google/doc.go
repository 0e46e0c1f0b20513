// Package google makes machines on Google Compute Engine, through a client of its own (internal/gcp). Machines are found by labels; what labels
// cannot hold, the exact tags among it, is in a machine's metadata. Errors are *app.Error with the codes of the contract; failures of the network and
// time-outs go up as they are, for the family's wrapper to code.
package google
