package resource_test

import (
	"testing"

	"muster/app/apptest/harness"
)

// A withWorker has what only these tests do with it.
type withWorker struct{ *harness.WithWorker }

func newWithWorker(t *testing.T) *withWorker { return &withWorker{harness.NewWithWorker(t)} }
