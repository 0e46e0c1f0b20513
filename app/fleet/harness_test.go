package fleet_test

import (
	"testing"

	"muster/app/apptest/harness"
)

// A plain has what only these tests do with it.
type bare struct{ *harness.Bare }

func newBare(t *testing.T) *bare { return &bare{harness.NewBare(t)} }
