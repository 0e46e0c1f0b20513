//go:build !linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const fakeNodesVariable = "MUSTER_BENCH_FARM"

const readersVariable = "MUSTER_BENCH_READERS"

func runReaders() error { return errors.New("readers require Linux") }

func runFakeNodes(string) error { return errors.New("fake nodes require Linux") }

// runEngine measures nothing: processes and memory are looked at in Linux's own way.
func runEngine(_ context.Context, w io.Writer, _ string) (over, wrong int) {
	fmt.Fprintln(w, "\nthe engine is only measured on Linux")
	return 0, 0
}
