package store_test

import (
	"path/filepath"
	"testing"

	"muster/app"
	"muster/app/apptest"
)

func TestProvisionersOnSQLite(t *testing.T) {
	apptest.ProvisionerSuite(t, func(t *testing.T) app.Store { return open(t, filepath.Join(t.TempDir(), "muster.db")) })
}
