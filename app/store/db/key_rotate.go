package db

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/app"
)

// sealedColumn is a column that holds sealed values. A value's place is the column's place followed by the row's key, its parts
// parted by slashes.
type sealedColumn struct {
	table, column, place string
	keys                 []string // columns that name a row
	number               bool     // its one key is a number, else all are text
	hex                  bool     // the value is text, in hex
	clear                string   // the column that held the value in plaintext before migration 54; with one key
	only                 []string // rows that are sealed, where not all are; with one key
}

// sealedColumns are all of them: what is missing here is left behind by a rotation. A test looks for calls of seal whose place
// is none of these.
var sealedColumns = []sealedColumn{
	{table: "build_deliveries", column: "body", place: "build_deliveries/", keys: []string{"hook", "dedup_key"}},
	{table: "build_hooks", column: "secret", place: "build_hook_secrets/", keys: []string{"id"}},
	{table: "build_hooks", column: "old_secret", place: "build_hook_secrets/", keys: []string{"id"}},
	{table: "build_hooks", column: "status_token", place: "build_hook_statuses/", keys: []string{"id"}},
	{table: "build_hooks", column: "token_key", place: "build_hook_tokens/", keys: []string{"id"}},
	{table: "builds", column: "encrypted_spec", place: "build_wanted/", keys: []string{"id"}, number: true, clear: "spec"},
	{table: "builds", column: "callback", place: "build_callbacks/", keys: []string{"callback_name"}},
	{table: "operation_changes", column: "encrypted_definition", place: "change_definitions/", keys: []string{"operation"}, number: true, clear: "definition"},
	{table: "chat_workspaces", column: "access", place: "chat_access/", keys: []string{"kind", "team"}},
	{table: "chat_workspaces", column: "refresh", place: "chat_refresh/", keys: []string{"kind", "team"}},
	{table: "clusters", column: "ssh_key", place: "clusters/", keys: []string{"id"}},
	{table: "clusters", column: "encrypted_definition", place: "cluster_definitions/", keys: []string{"id"}, clear: "definition"},
	{table: "webhooks", column: "url", place: "hook_urls/", keys: []string{"tenant", "name"}},
	{table: "webhooks", column: "secret", place: "hook_secrets/", keys: []string{"tenant", "name"}},
	{table: "webhooks", column: "old_secret", place: "hook_secrets/", keys: []string{"tenant", "name"}},
	{table: "idempotency_keys", column: "fingerprint", place: "idempotency_fingerprints/", keys: []string{"tenant", "account", "name"}},
	{table: "idempotency_keys", column: "answer", place: "idempotency_answers/", keys: []string{"tenant", "account", "name"}},
	{table: "service_outputs", column: "value", place: "node_facts/", keys: []string{"cluster", "service", "name", "node"}},
	{table: "nodes", column: "secret", place: "nodes/", keys: []string{"cluster", "name"}},
	{table: "manual_steps", column: "answer", place: "questions/", keys: []string{"name"}},
	{table: "requests", column: "encrypted_spec", place: "request_asked/", keys: []string{"id"}, number: true, clear: "spec"},
	{table: "requests", column: "encrypted_terms", place: "request_terms/", keys: []string{"id"}, number: true, clear: "terms"},
	{table: "requests", column: "encrypted_payload", place: "request_kept/", keys: []string{"id"}, number: true, clear: "payload"},
	{table: "place_runs", column: "encrypted_payload", place: "place_runs/", keys: []string{"run"}},
	{table: "provider_values", column: "encrypted", place: "provider_values/", keys: []string{"cluster"}},
	{table: "second_factors", column: "encrypted", place: "second_factors/", keys: []string{"id"}},
	{table: "secrets", column: "value", place: "secrets/", keys: []string{"tenant", "name"}},
	{table: "terminal_chunks", column: "sealed", place: "terminal_chunks/", keys: []string{"id"}},
	{table: "settings", column: "value", place: "settings/", keys: []string{"name"}, hex: true, only: []string{keyCheckRow, "worker_key", auditKeyRow}},
}

// rotateBatch is how many values are sealed again in one transaction: few, so that steps hardly wait.
const rotateBatch = 100

// sealedValue is one that was read to be sealed again.
type sealedValue struct {
	keys  []string
	value []byte
}

func (c sealedColumn) placeOf(keys []string) string { return c.place + strings.Join(keys, "/") }

// key returns a part of a row's key as the column holds it.
func (c sealedColumn) key(text string) any {
	if c.number {
		n, _ := strconv.ParseInt(text, 10, 64) // the database gave it
		return n
	}
	return text
}

// stored returns a sealed value as the column holds it.
func (c sealedColumn) stored(b []byte) any {
	if c.hex {
		return hex.EncodeToString(b)
	}
	return b
}

// head returns an expression for the first bytes of the column.
func (c sealedColumn) head() string {
	if c.hex {
		return fmt.Sprintf("substr(%s, 1, %d)", c.column, 2*headSize)
	}
	return fmt.Sprintf("substr(%s, 1, %d)", c.column, headSize)
}

// filter leaves out rows that hold nothing sealed.
func (c sealedColumn) filter() (string, []any) {
	if len(c.only) == 0 {
		return "length(" + c.column + ") > 0", nil
	}
	var args []any
	for _, name := range c.only {
		args = append(args, name)
	}
	return c.keys[0] + " IN (?" + strings.Repeat(", ?", len(args)-1) + ")", args
}

// KeyUse is a data key and what is sealed with it. Number 0 is the key-encryption key itself, which sealed values before there
// were data keys.
type KeyUse struct {
	ID        int64
	Keeper    string // name of the key-encryption key that wraps it
	CreatedAt time.Time
	RetiredAt time.Time // zero while something is, or may be, sealed with it
	Newest    bool
	Values    int
}

// KeyUses tells which keys there are and how many values each seals, the oldest first.
func (s *DB) KeyUses(ctx context.Context) ([]KeyUse, error) {
	rows, err := s.Keyring.rows(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[int64]int{}
	for _, c := range sealedColumns {
		where, args := c.filter()
		err := s.Each(ctx, func(row Scanner) error {
			var head []byte
			var n int
			if err := row.Scan(&head, &n); err != nil {
				return err
			}
			counts[c.keyOfHead(head)] += n
			return nil
		}, `SELECT `+c.head()+`, count(*) FROM `+c.table+` WHERE `+where+` GROUP BY 1`, args...)
		if err != nil {
			return nil, err
		}
	}
	var uses []KeyUse
	if n := counts[0]; n > 0 {
		uses = append(uses, KeyUse{Keeper: s.keeper.Name(), Values: n})
	}
	for i, r := range rows {
		uses = append(uses, KeyUse{ID: r.id, Keeper: r.kek, CreatedAt: FromMicros(r.made), RetiredAt: FromMicros(r.retired),
			Newest: i == len(rows)-1, Values: counts[r.id]})
	}
	return uses, nil
}

// keyOfHead is keyOf for no more than the head of a value.
func (c sealedColumn) keyOfHead(head []byte) int64 {
	if c.hex {
		head, _ = hex.DecodeString(string(head))
	}
	return keyOf(append(head, make([]byte, nonceSize)...))
}

// rotation seals what is in a database with another key.
type rotation struct{ *DB }

// RotateKeys makes a new data key and seals all values again with it, while servers run. Where an earlier rotation was
// interrupted, that one is ended instead; two at the same time harm nothing. Progress is called now and then with how many
// values are done, of how many. Values that do not open, whose key was lost, are left and counted.
func (s *DB) RotateKeys(ctx context.Context, progress func(done, total int)) (lost int, err error) {
	rot := rotation{s}
	uses, err := s.KeyUses(ctx)
	if err != nil {
		return 0, err
	}
	if !interrupted(uses) {
		keys, err := s.Keyring.rows(ctx)
		if err != nil {
			return 0, err
		}
		if err := s.makeKey(ctx, time.Now(), len(keys)); err != nil {
			return 0, err
		}
		if err := rot.auditKeyChange(ctx, "secrets.rotate"); err != nil {
			return 0, err
		}
	}
	newest, err := rot.useNewest(ctx)
	if err != nil {
		return 0, err
	}
	// Servers learn of the key within keyReload. What they seal with the old one meanwhile is found by a second look.
	begun := time.Now()
	if lost, err = rot.resealAll(ctx, newest, progress); err != nil {
		return lost, err
	}
	if wait := keyReload + keyReload/2 - time.Since(begun); wait > 0 {
		select {
		case <-ctx.Done():
			return lost, ctx.Err()
		case <-time.After(wait):
		}
	}
	if lost, err = rot.resealAll(ctx, newest, func(int, int) {}); err != nil {
		return lost, err
	}
	return lost, rot.retire(ctx)
}

// interrupted tells that a rotation has not come to its end: a key that is not the newest is not retired. Those whose values
// are all of a lost key would stay forever, so only what this keeper wraps counts.
func interrupted(uses []KeyUse) bool {
	var keeper string
	for _, u := range uses {
		if u.Newest {
			keeper = u.Keeper
		}
	}
	for _, u := range uses {
		if u.ID > 0 && !u.Newest && u.RetiredAt.IsZero() && u.Keeper == keeper {
			return true
		}
	}
	return false
}

// useNewest makes this store seal with the newest key, or says why it cannot.
func (s rotation) useNewest(ctx context.Context) (int64, error) {
	k := s.Keyring
	var newest int64
	if err := k.reads.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM data_keys`).Scan(&newest); err != nil {
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, err := k.get(ctx, newest); err != nil {
		return 0, keeperError(k.keeper, err)
	}
	k.current, k.looked = newest, time.Now()
	return newest, nil
}

// resealAll seals again what another key sealed.
func (s rotation) resealAll(ctx context.Context, newest int64, progress func(done, total int)) (lost int, err error) {
	total := 0
	for _, c := range sealedColumns {
		where, args := c.filter()
		var n int
		if err := s.Reads.QueryRowContext(ctx, `SELECT count(*) FROM `+c.table+` WHERE `+where+` AND `+c.head()+` <> ?`,
			append(args, c.stored(headOf(newest)))...).Scan(&n); err != nil {
			return 0, fmt.Errorf("store: %s: %w", c.table, err)
		}
		total += n
	}
	done := 0
	progress(0, total)
	for _, c := range sealedColumns {
		var after []string
		for {
			values, err := s.sealedWithout(ctx, c, newest, after)
			if err != nil {
				return lost, err
			}
			if len(values) == 0 {
				break
			}
			n, err := s.reseal(ctx, c, values)
			if err != nil {
				return lost, err
			}
			lost += n
			done += len(values)
			progress(done, max(total, done))
			after = values[len(values)-1].keys
		}
	}
	return lost, nil
}

// sealedWithout reads some values that were not sealed with a key, in the order of their rows, behind a row.
func (s rotation) sealedWithout(ctx context.Context, c sealedColumn, id int64, after []string) (list []sealedValue, err error) {
	where, args := c.filter()
	where += ` AND ` + c.head() + ` <> ?`
	args = append(args, c.stored(headOf(id)))
	if after != nil {
		where += ` AND (` + strings.Join(c.keys, ", ") + `) > (?` + strings.Repeat(", ?", len(c.keys)-1) + `)`
		for _, k := range after {
			args = append(args, c.key(k))
		}
	}
	err = s.Each(ctx, func(row Scanner) error {
		v := sealedValue{keys: make([]string, len(c.keys))}
		dest := []any{&v.value}
		for i := range v.keys {
			dest = append(dest, &v.keys[i])
		}
		err := row.Scan(dest...)
		if err == nil && c.hex {
			v.value, err = hex.DecodeString(string(v.value))
		}
		list = append(list, v)
		return err
	}, `SELECT `+c.column+`, `+strings.Join(c.keys, ", ")+` FROM `+c.table+` WHERE `+where+
		` ORDER BY `+strings.Join(c.keys, ", ")+fmt.Sprintf(` LIMIT %d`, rotateBatch), args...)
	return list, err
}

// reseal replaces values unless someone else has done so since they were read. It returns how many did not open.
func (s rotation) reseal(ctx context.Context, c sealedColumn, values []sealedValue) (lost int, err error) {
	next := make([][]byte, len(values))
	for i, v := range values {
		place := c.placeOf(v.keys)
		secret, err := s.Unseal(v.value, place)
		if err != nil {
			if code := app.CodeOf(err); code == app.ETransient || code == app.ETimeout || code == app.ECredentials {
				return lost, keeperError(s.keeper, err)
			}
			lost++
			continue
		}
		next[i] = s.Seal(secret, place)
	}
	return lost, s.Write(ctx, func(t *Tx) error {
		for i, v := range values {
			if next[i] == nil {
				continue
			}
			args := []any{c.stored(next[i])}
			for _, k := range v.keys {
				args = append(args, c.key(k))
			}
			if err := t.Exec(`UPDATE `+c.table+` SET `+c.column+` = ? WHERE `+strings.Join(c.keys, " = ? AND ")+` = ? AND `+c.column+` = ?`,
				append(args, c.stored(v.value))...); err != nil {
				return err
			}
		}
		return nil
	})
}

// retire marks the keys that seal nothing any more.
func (s rotation) retire(ctx context.Context) error {
	uses, err := s.KeyUses(ctx)
	if err != nil {
		return err
	}
	return s.Write(ctx, func(t *Tx) error {
		for _, u := range uses {
			if u.ID == 0 || u.Newest || u.Values > 0 || !u.RetiredAt.IsZero() {
				continue
			}
			if err := t.Exec(`UPDATE data_keys SET retired_at = ? WHERE id = ?`, Micros(time.Now()), u.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// Rekey wraps all data keys under another key-encryption key, after it has sealed again what the old one sealed itself. Servers
// that run continue with the data keys that they have; started again, they need the new one. It happens as a whole or not at all,
// and may be done again. It returns how many keys were wrapped; those that do not open, whose own key was lost, are left.
func (s *DB) Rekey(ctx context.Context, to KeyKeeper) (int, error) {
	rot := rotation{s}
	newest, err := rot.useNewest(ctx)
	if err != nil {
		return 0, err
	}
	if _, err := rot.resealAll(ctx, newest, func(int, int) {}); err != nil {
		return 0, err
	}
	rows, err := s.Keyring.rows(ctx)
	if err != nil {
		return 0, err
	}
	wrapped := map[int64][]byte{}
	for _, r := range rows {
		key, err := s.keeper.Unwrap(ctx, r.wrapped)
		if isWrongKey(err) && r.id != newest {
			continue
		}
		if err != nil {
			return 0, keeperError(s.keeper, err)
		}
		w, err := to.Wrap(ctx, key)
		if err != nil {
			return 0, keeperError(to, err)
		}
		// A key that wraps and does not unwrap would lose everything.
		if back, err := to.Unwrap(ctx, w); err != nil {
			return 0, keeperError(to, err)
		} else if string(back) != string(key) {
			return 0, app.Errorf(app.EInternal, "store: the key %q doesn't decrypt what it encrypted", to.Name())
		}
		wrapped[r.id] = w
	}
	err = s.Write(ctx, func(t *Tx) error {
		for _, r := range rows {
			w := wrapped[r.id]
			if w == nil {
				continue
			}
			n, err := t.Count(`UPDATE data_keys SET wrapped = ?, kek = ? WHERE id = ? AND wrapped = ?`, w, to.Name(), r.id, r.wrapped)
			if err != nil {
				return err
			}
			if n == 0 {
				return &app.Error{Code: app.EConflict, Reason: "busy", Message: "Someone else has just changed the data keys.", Hint: "Check `muster secrets status`, then try again."}
			}
		}
		var n int
		if err := t.Row(`SELECT count(*) FROM data_keys`).Scan(&n); err != nil {
			return err
		}
		if n != len(rows) {
			return &app.Error{Code: app.EConflict, Reason: "busy", Message: "A data key was just added.", Hint: "Try again."}
		}
		return t.Audit(time.Now(), app.DefaultTenant, serverName, "secrets.rekey", "data_keys", JSON(map[string]any{
			"before": map[string]string{"keeper": s.keeper.Name()}, "after": map[string]string{"keeper": to.Name()}}))
	})
	return len(wrapped), err
}

// serverName is in the audit for anyone who runs commands on the server's host.
const serverName = "muster"

func (s rotation) auditKeyChange(ctx context.Context, act string) error {
	return s.Write(ctx, func(t *Tx) error {
		return t.Audit(time.Now(), app.DefaultTenant, serverName, act, "data_keys", "")
	})
}
