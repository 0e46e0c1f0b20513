//go:build real && linux

package main

import (
	"testing"

	"muster/app/apptest"
)

func TestRealScenarios(t *testing.T) {
	t.Parallel()
	measureShort(t, true, nil, engineScenarios)
}

func TestRealScenariosOnPostgres(t *testing.T) {
	t.Parallel()
	p, err := apptest.StartPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() }) // after the scenarios, which are parallel
	if err := p.Make("filled", ""); err != nil {
		t.Fatal(err)
	}
	if err := fill(t.Context(), p.URL("filled"), short.copies); err != nil {
		t.Fatal(err)
	}
	measureShort(t, true, func(t *testing.T) string { return p.Fresh(t, "filled") }, portalScenarios)
}
