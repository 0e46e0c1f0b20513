package store_test

import (
	"testing"

	"muster/app/all"
	"muster/app/store/storetest"
	"muster/app/store/storetest/suite"
)

func TestProvisionersOnSQLite(t *testing.T) {
	suite.ProvisionerSuite(t, func(t *testing.T) all.Store { return open(t, storetest.File(t)) })
}
