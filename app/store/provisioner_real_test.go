//go:build real

package store_test

import (
	"testing"

	"muster/app/all"
	"muster/app/store/storetest/suite"
)

func TestProvisionersOnPostgres(t *testing.T) {
	suite.ProvisionerSuite(t, func(t *testing.T) all.Store { return open(t, fresh(t)) })
}
