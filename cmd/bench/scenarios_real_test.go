//go:build real

package main

import (
	"slices"
	"testing"

	"muster/app/apptest"
)

func TestRealScenarios(t *testing.T) {
	measureShort(t, aFile, slices.DeleteFunc(slices.Clone(engineScenarios), func(s scenario) bool { return len(s.needs) == 0 }))
}

func TestRealScenariosOnPostgres(t *testing.T) {
	p, err := apptest.StartPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() }) // after the scenarios, which are parallel
	measureShort(t, func(t *testing.T) string { return p.Fresh(t, "") }, portalScenarios)
}
