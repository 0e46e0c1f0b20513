package store_test

import (
	"testing"

	"muster/app/all"
	"muster/app/apptest"
	"muster/app/store/storetest"
)

func TestProvisionersOnSQLite(t *testing.T) {
	apptest.ProvisionerSuite(t, func(t *testing.T) all.Store { return open(t, storetest.File(t)) })
}
