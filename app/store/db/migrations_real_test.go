//go:build real && !small

package db

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"muster/app/apptest"
	"muster/migrations"
)

func TestPostgresMigrationsUpAndDown(t *testing.T) {
	p, err := apptest.StartPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"before", "restored"} {
		if err := p.Make(name, ""); err != nil {
			t.Fatal(err)
		}
	}
	upAndDown(t, p.URL("before"), p.URL("restored"), func(ctx context.Context, number int64) error {
		config, err := postgresConfig(p.URL("restored"))
		if err != nil {
			return err
		}
		db := stdlib.OpenDB(*config)
		defer db.Close()
		return downTo(ctx, goose.DialectPostgres, db, postgresMigrations{migrations.FS}, number)
	})
}
