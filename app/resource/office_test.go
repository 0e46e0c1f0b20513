package resource_test

import (
	"testing"

	"muster/app/apptest/office"
)

// A farm has what only these tests do with it.
type farm struct{ *office.Farm }

func newFarm(t *testing.T) *farm { return &farm{office.NewFarm(t)} }
