package store_test

import (
	"testing"

	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/store/storetest/suite"
)

func TestMoney(t *testing.T) {
	suite.MoneySuite(t, func(t *testing.T) []*store.Store { return []*store.Store{open(t, storetest.File(t))} })
}
