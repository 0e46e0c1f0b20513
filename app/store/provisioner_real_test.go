//go:build real

package store_test

import (
	"testing"

	"muster/app/all"
	"muster/app/apptest"
)

func TestProvisionersOnPostgres(t *testing.T) {
	apptest.ProvisionerSuite(t, func(t *testing.T) all.Store { return open(t, fresh(t)) })
}
