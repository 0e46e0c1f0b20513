//go:build !linux

package cluster

import "io"

// readKeys returns no keys on this system: only Ctrl-C ends the program.
func readKeys(io.Reader) (keys <-chan byte, restore func(), err error) {
	return nil, func() {}, nil
}
