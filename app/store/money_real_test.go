//go:build real

package store_test

import (
	"testing"

	"muster/app"
	"muster/app/apptest"
)

func TestPostgresMoney(t *testing.T) {
	apptest.MoneySuite(t, func(t *testing.T) []app.Store {
		where := fresh(t)
		return []app.Store{open(t, where), open(t, where), open(t, where)}
	})
}
