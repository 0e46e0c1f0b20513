//go:build !linux

package cluster

import "io"

// readKeys returns no keys here: ctrl-c ends what goes on.
func readKeys(io.Reader) (keys <-chan byte, restore func(), err error) {
	return nil, func() {}, nil
}
