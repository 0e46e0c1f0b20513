package store

import (
	"context"
	"database/sql"
	"fmt"
)

// sealBefore seals what was written in clear text before migration 54, some rows in a transaction. Interrupted, it goes on at the next start; several servers may do
// it at the same time. Nothing else is read before it is done. It gives how many values there were.
func (s *Store) sealBefore(ctx context.Context) (all int, err error) {
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

func (s *Store) sealSome(ctx context.Context, c sealedColumn) (n int, err error) {
	key := c.keys[0]
	err = s.write(ctx, func(t *tx) error {
		var rows []sealedValue
		if err := t.each(func(row scanner) error {
			v := sealedValue{keys: []string{""}}
			err := row.Scan(&v.value, &v.keys[0])
			rows = append(rows, v)
			return err
		}, `SELECT `+c.clear+`, `+key+` FROM `+c.table+` WHERE `+c.clear+` <> '' ORDER BY `+key+fmt.Sprintf(` LIMIT %d`, rotateBatch)); err != nil {
			return err
		}
		for _, v := range rows {
			if err := t.exec(`UPDATE `+c.table+` SET `+c.column+` = ?, `+c.clear+` = '' WHERE `+key+` = ?`, s.seal(v.value, c.placeOf(v.keys)), c.key(v.keys[0])); err != nil {
				return err
			}
		}
		n = len(rows)
		return nil
	})
	return n, err
}

// scrub removes from a file what was overwritten: it still stands in pages that are free. Where that is not to be done now, such as for want of room, they are used again in time.
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
