package fleet_test

import (
	"testing"

	"muster/app/apptest/office"
)

// A plain has what only these tests do with it.
type plain struct{ *office.Plain }

func newPlain(t *testing.T) *plain { return &plain{office.NewPlain(t)} }
