package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run this binary under the name muster.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"muster": main})
}

// TestScripts are people's stories over the real binary. -update is not offered: the words are part of the story.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
