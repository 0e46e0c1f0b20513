//go:build small

package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/store"
	"muster/app/store/db"
)

func TestSmallBuildNamesMissingPostgreSQL(t *testing.T) {
	const where = "postgres://user:password@127.0.0.1:1/muster"
	_, open := store.OpenWith(t.Context(), where, nil)
	_, inspect := db.Inspect(t.Context(), where)
	_, restore := db.Restore(t.Context(), where, db.Restored{Now: time.Now()})
	_, migrate := db.MigrateTo(t.Context(), where, 0)
	for what, err := range map[string]error{"open": open, "inspect": inspect, "restore": restore, "migrate": migrate, "empty": db.Empty(t.Context(), where)} {
		if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "DATABASE_URL" || !strings.Contains(e.Message, "small build") || e.Hint != family.FullBuildHint {
			t.Errorf("%s: %+v", what, e)
		}
	}
	if !slices.Contains(db.LeftOut, "postgres") {
		t.Errorf("%q", db.LeftOut)
	}
}
