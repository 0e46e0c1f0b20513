package store_test

import (
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/store/storetest"
)

func TestMoney(t *testing.T) {
	apptest.MoneySuite(t, func(t *testing.T) []app.Store { return []app.Store{open(t, storetest.File(t))} })
}
