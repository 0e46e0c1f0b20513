package store_test

import (
	"testing"

	"muster/app/all"
	"muster/app/apptest"
	"muster/app/store/storetest"
)

func TestMoney(t *testing.T) {
	apptest.MoneySuite(t, func(t *testing.T) []all.Store { return []all.Store{open(t, storetest.File(t))} })
}
