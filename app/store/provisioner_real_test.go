//go:build real

package store_test

import (
	"testing"

	"muster/app/store"
	"muster/app/store/storetest/suite"
)

func TestProvisionersOnPostgres(t *testing.T) {
	suite.ProvisionerSuite(t, func(t *testing.T) *store.Store { return open(t, fresh(t)) })
}
