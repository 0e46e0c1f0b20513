package store_test

import (
	"testing"

	"muster/app/all"
	"muster/app/store/storetest"
	"muster/app/store/storetest/suite"
)

func TestMoney(t *testing.T) {
	suite.MoneySuite(t, func(t *testing.T) []all.Store { return []all.Store{open(t, storetest.File(t))} })
}
