package store_test

import (
	"path/filepath"
	"testing"

	"muster/app"
	"muster/app/apptest"
)

func TestMoney(t *testing.T) {
	apptest.MoneySuite(t, func(t *testing.T) []app.Store { return []app.Store{open(t, filepath.Join(t.TempDir(), "muster.db"))} })
}
