//go:build real

package store_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

func TestPostgresRotationResumes(t *testing.T) { rotates(t, fresh(t), suiteKeeper(t)) }

func TestPostgresAuditIsAChain(t *testing.T) { chains(t, fresh(t), suiteKeeper(t)) }

func TestPostgresConfigurationIsEncrypted(t *testing.T) { configIsSealed(t, fresh(t), suiteKeeper(t)) }

func TestPostgresOldConfigurationIsEncrypted(t *testing.T) {
	const n = 230
	where := fresh(t)
	s := openBy(t, where, suiteKeeper(t))
	configured(t, s, n)
	_ = s.Close()
	config, err := pgx.ParseConfig(where)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	inClear(t, func(query string) {
		if _, err := db.ExecContext(t.Context(), strings.ReplaceAll(query, "x''", "''")); err != nil {
			t.Fatal(query, err)
		}
	})
	oldConfigIsSealed(t, where, suiteKeeper(t), n)
}
