package store_test

import (
	"testing"

	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/store/storetest/suite"
)

func TestProvisionersOnSQLite(t *testing.T) {
	suite.ProvisionerSuite(t, func(t *testing.T) *store.Store { return open(t, storetest.File(t)) })
}
