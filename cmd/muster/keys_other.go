//go:build !linux

package main

import "io"

// readKeys gives no keys here: ctrl-c ends what goes on.
func readKeys(io.Reader) (keys <-chan byte, restore func(), err error) {
	return nil, func() {}, nil
}
