//go:build !linux

package main

import (
	"context"
	"errors"
)

const fakeNodesVariable = "MUSTER_BENCH_FARM"

const readersVariable = "MUSTER_BENCH_READERS"

func runReaders() error { return errors.New("readers require Linux") }

func runFakeNodes(string) error { return errors.New("fake nodes require Linux") }

// Processes and memory are looked at in Linux's own way.
var engineScenarios = []scenario{{name: "engine", measure: func(_ context.Context, b *bench) error {
	b.leftOut("engine and portal", "they are only measured on Linux")
	return nil
}}}

var portalScenarios []scenario
