//go:build small

package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/store"
)

func TestSmallBuildSaysThatItLacksPostgreSQL(t *testing.T) {
	const where = "postgres://user:password@127.0.0.1:1/muster"
	_, open := store.OpenWith(t.Context(), where, nil)
	_, inspect := store.Inspect(t.Context(), where)
	_, restore := store.Restore(t.Context(), where, store.Restored{Now: time.Now()})
	_, migrate := store.MigrateTo(t.Context(), where, 0)
	for what, err := range map[string]error{"open": open, "inspect": inspect, "restore": restore, "migrate": migrate, "empty": store.Empty(t.Context(), where)} {
		if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "DATABASE_URL" || !strings.Contains(e.Message, "small build") || e.Hint != app.FullBuildHint {
			t.Errorf("%s: %+v", what, e)
		}
	}
	if !slices.Contains(store.LeftOut, "postgres") {
		t.Errorf("%q", store.LeftOut)
	}
}
