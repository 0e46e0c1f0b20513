//go:build real

package store_test

import "testing"

func TestPostgresOldestQueued(t *testing.T) { oldestQueued(t, open(t, fresh(t))) }
