//go:build real

package store_test

import (
	"sync"
	"testing"

	"muster/app/apptest"
	"muster/app/store"
	"muster/app/store/storetest/suite"
)

// postgres is one server for all tests of a run, with a template whose tables are made.
var postgres = sync.OnceValues(func() (*apptest.Postgres, error) {
	p, err := apptest.StartPostgres()
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, p.Close)
	if err := p.Make(template, ""); err != nil {
		return nil, err
	}
	s, err := store.Open(ctxOfRun, p.URL(template), key)
	if err != nil {
		return nil, err
	}
	return p, s.Close()
})

const template = "muster_template"

// fresh returns the address of a database of the test's own, with empty tables.
func fresh(t testing.TB) string {
	t.Helper()
	p, err := postgres()
	if err != nil {
		t.Fatal(err)
	}
	return p.Fresh(t, template)
}

func TestPostgres(t *testing.T) {
	suite.StoreSuite(t, func(t *testing.T) *store.Store { return open(t, fresh(t)) })
}

func TestPostgresUpdates(t *testing.T) {
	suite.UpdateSuite(t, func(t *testing.T) *store.Store { return open(t, fresh(t)) })
}
