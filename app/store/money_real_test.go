//go:build real

package store_test

import (
	"testing"

	"muster/app/store"
	"muster/app/store/storetest/suite"
)

func TestPostgresMoney(t *testing.T) {
	suite.MoneySuite(t, func(t *testing.T) []*store.Store {
		where := fresh(t)
		return []*store.Store{open(t, where), open(t, where), open(t, where)}
	})
}
