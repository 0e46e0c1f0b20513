package db

import (
	"context"
	"database/sql"
	"fmt"
)

// sealBefore encrypts configuration that was stored in plaintext before migration 54, a batch of rows per transaction. After an interruption it continues
// at the next start; several servers may run it at once. It runs before anything else is read, and returns how many values it encrypted.
func (s rotation) sealBefore(ctx context.Context) (all int, err error) {
	for _, c := range sealedColumns {
		for c.clear != "" {
			n, err := s.sealSome(ctx, c)
			if err != nil {
				return all, err
			}
			if n == 0 {
				break
			}
			all += n
		}
	}
	return all, nil
}

func (s rotation) sealSome(ctx context.Context, c sealedColumn) (n int, err error) {
	key := c.keys[0]
	err = s.Write(ctx, func(t *Tx) error {
		var rows []sealedValue
		if err := t.Each(func(row Scanner) error {
			v := sealedValue{keys: []string{""}}
			err := row.Scan(&v.value, &v.keys[0])
			rows = append(rows, v)
			return err
		}, `SELECT `+c.clear+`, `+key+` FROM `+c.table+` WHERE `+c.clear+` <> '' ORDER BY `+key+fmt.Sprintf(` LIMIT %d`, rotateBatch)); err != nil {
			return err
		}
		for _, v := range rows {
			if err := t.Exec(`UPDATE `+c.table+` SET `+c.column+` = ?, `+c.clear+` = '' WHERE `+key+` = ?`, s.Seal(v.value, c.placeOf(v.keys)), c.key(v.keys[0])); err != nil {
				return err
			}
		}
		n = len(rows)
		return nil
	})
	return n, err
}

// scrub rewrites the file, since its free pages still hold overwritten plaintext. It is best effort: without enough disk space the pages are left to be
// overwritten by later writes.
func scrub(ctx context.Context, file string) {
	db, err := sql.Open("sqlite", dsn(file, "_pragma=busy_timeout(5000)"))
	if err != nil {
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `VACUUM`); err == nil {
		_, _ = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	}
}
