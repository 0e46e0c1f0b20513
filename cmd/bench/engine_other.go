//go:build !linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const farmVariable = "MUSTER_BENCH_FARM"

const readersVariable = "MUSTER_BENCH_READERS"

func runReaders() error { return errors.New("readers need Linux") }

func runFarm(string) error { return errors.New("farms need Linux") }

// runEngine measures nothing: processes and memory are looked at in Linux's own way.
func runEngine(_ context.Context, w io.Writer, _ string) (over, wrong int) {
	fmt.Fprintln(w, "\nfigures of the engine are measured on Linux only")
	return 0, 0
}
