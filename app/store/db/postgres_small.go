//go:build small

package db

import (
	"context"

	"muster/app"
	"muster/app/family"
)

// LeftOut are the schemes that this build does not have.
var LeftOut = []string{"postgres"}

func noPostgres() error {
	return &app.Error{Code: app.EInvalid, Field: "DATABASE_URL", Message: "This small build of Muster has no support for PostgreSQL.", Hint: family.FullBuildHint}
}

func openPostgres(context.Context, string) (session, func(func([]string)) peers, *Reads, error) {
	return nil, nil, nil, noPostgres()
}

func readPostgres(context.Context, string, map[string]string) (*Reads, error) {
	return nil, noPostgres()
}

func changePostgres(context.Context, string, int64) error { return noPostgres() }

func emptyPostgres(context.Context, string) error { return noPostgres() }

func restorePostgres(context.Context, string, Restored) (Outcome, error) {
	return Outcome{}, noPostgres()
}

func postgresForNow(err error) error { return err }
