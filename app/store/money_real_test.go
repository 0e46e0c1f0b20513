//go:build real

package store_test

import (
	"testing"

	"muster/app/all"
	"muster/app/store/storetest/suite"
)

func TestPostgresMoney(t *testing.T) {
	suite.MoneySuite(t, func(t *testing.T) []all.Store {
		where := fresh(t)
		return []all.Store{open(t, where), open(t, where), open(t, where)}
	})
}
