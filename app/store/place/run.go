package place

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/place"
	"muster/app/store/db"
)

// Store is the part of a store that is about places.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// DropOf deletes what is kept of a tenant.
func DropOf(t *db.Tx, tenant string) error {
	for _, query := range []string{`DELETE FROM place_stock WHERE tenant = ?`, `DELETE FROM place_attempts WHERE tenant = ?`, `DELETE FROM place_runs WHERE tenant = ?`} {
		if err := t.Exec(query, tenant); err != nil {
			return err
		}
	}
	return nil
}

// Begin writes the places of a cluster that is about to be created in the first of them.
func Begin(t *db.Tx, at time.Time, c app.Cluster, operation int64, a cluster.PlaceAttempt) error {
	err := t.Exec(`INSERT INTO place_runs (run, tenant, cluster, operation, position, place_order, status, message, choice, encrypted_payload, created_at, ended_at)
		VALUES (?, ?, ?, ?, 0, ?, ?, '', ?, ?, ?, 0)`, c.ID, c.Tenant, c.ID, operation, string(a.Order), string(layout.PlacesTrying), string(a.Choice),
		t.Keys.Seal([]byte(db.JSON(a.Payloads)), "place_runs/"+c.ID), db.Micros(at))
	if err != nil {
		return err
	}
	return t.ExecChunks(len(a.Candidates), `INSERT INTO place_attempts (run, position, tenant, candidate, status, reason, cluster, at) VALUES `,
		`(?, ?, ?, ?, ?, ?, ?, ?)`, ``,
		func(args []any, i int) []any {
			k, of := a.Candidates[i], ""
			if i == 0 {
				k.State, k.At, of = layout.CandidateTrying, at, c.ID
			}
			state, reason := k.State, k.Reason
			k.State, k.Reason, k.Account, k.Stock = "", "", "", layout.Stock{}
			return append(args, c.ID, i, c.Tenant, db.JSON(k), string(state), reason, of, db.Micros(k.At))
		})
}

// Leaving reports whether a place before a candidate is being left, so that the candidate may be tried. Until the transaction ends no other one can say so.
func Leaving(t *db.Tx, run string, position int) (bool, error) {
	n, err := t.Count(`UPDATE place_runs SET status = status WHERE run = ? AND status = ? AND ended_at = 0 AND position < ?`,
		run, string(layout.PlacesLeaving), position)
	return n == 1, err
}

// Advance writes that the next place is tried, with another cluster, after Leaving.
func Advance(t *db.Tx, at time.Time, c app.Cluster, operation int64, a cluster.PlaceAttempt) error {
	err := t.Exec(`UPDATE place_runs SET cluster = ?, operation = ?, position = ?, status = ? WHERE run = ? AND tenant = ?`,
		c.ID, operation, a.Position, string(layout.PlacesTrying), a.Run, c.Tenant)
	if err != nil {
		return err
	}
	return t.Exec(`UPDATE place_attempts SET status = ?, cluster = ?, at = ? WHERE run = ? AND position = ?`,
		string(layout.CandidateTrying), c.ID, db.Micros(at), a.Run, a.Position)
}

// Leave writes that the place that is being tried is left, and by which rollback. It is false where another server was faster.
func Leave(t *db.Tx, m place.Move, rollback int64) (bool, error) {
	n, err := t.Count(`UPDATE place_runs SET status = ?, operation = ? WHERE run = ? AND tenant = ? AND status = ? AND operation = ? AND ended_at = 0`,
		string(layout.PlacesLeaving), rollback, m.Run, m.Tenant, string(layout.PlacesTrying), m.Operation)
	if err != nil || n != 1 {
		return false, err
	}
	return true, Mark(t, m)
}

// Mark writes what came of a candidate.
func Mark(t *db.Tx, m place.Move) error {
	return t.Exec(`UPDATE place_attempts SET status = ?, reason = ?, at = ? WHERE run = ? AND tenant = ? AND position = ?`,
		string(m.Candidate), m.Reason, db.Micros(m.Now), m.Run, m.Tenant, m.Position)
}

// End writes that nothing more is tried, and forgets what that would have taken. It is false where another server was faster.
func End(t *db.Tx, m place.Move) (bool, error) {
	n, err := t.Count(`UPDATE place_runs SET status = ?, message = ?, ended_at = ?, encrypted_payload = x'' WHERE run = ? AND tenant = ? AND operation = ? AND ended_at = 0`,
		string(m.State), m.Message, db.Micros(m.Now), m.Run, m.Tenant, m.Operation)
	if err != nil || n != 1 {
		return false, err
	}
	if m.Candidate == "" {
		return true, nil
	}
	return true, Mark(t, m)
}

// Left reports whether another place is left, of the request that an operation creates a cluster for.
func Left(t *db.Tx, operation int64) (left bool, err error) {
	err = t.Row(`SELECT EXISTS (SELECT 1 FROM place_runs r JOIN place_attempts a ON a.run = r.run WHERE r.operation = ? AND r.ended_at = 0 AND r.status = 'trying'
		AND a.position > r.position AND a.status = 'ready')`, operation).Scan(&left)
	return left, db.Wrapped(err)
}

// PlaceRunsDue implements place.Store.
func (s *Store) PlaceRunsDue(ctx context.Context, limit int) (list []place.Run, err error) {
	sealed := [][]byte{}
	err = s.Each(ctx, func(row db.Scanner) error {
		var r place.Run
		var payload []byte
		var deleted int64
		err := row.Scan(&r.Run, &r.Tenant, &r.Cluster, &r.Operation, &r.Position, &r.Order, &r.State, &r.Choice, &payload, &r.Kind, &r.Status, &r.Name, &deleted)
		r.Deleted = deleted > 0
		list, sealed = append(list, r), append(sealed, payload)
		return err
	}, `SELECT r.run, r.tenant, r.cluster, r.operation, r.position, r.place_order, r.status, r.choice, r.encrypted_payload, o.kind, o.status, c.name, c.deleted_at
		FROM place_runs r JOIN operations o ON o.id = r.operation JOIN clusters c ON c.id = r.cluster
		WHERE r.ended_at = 0 AND (c.deleted_at > 0 OR r.status = 'trying' AND o.status IN ('succeeded', 'failed', 'cancelled')) ORDER BY r.operation LIMIT ?`, limit)
	for i := range list {
		if err == nil {
			err = s.OpenJSON(sealed[i], "place_runs/"+list[i].Run, &list[i].Payloads)
		}
	}
	return list, err
}

// PlacesOf implements place.Store.
func (s *Store) PlacesOf(ctx context.Context, tenant, cluster string) (*layout.Places, error) {
	p := &layout.Places{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var text []byte
		var k layout.Candidate
		var at int64
		var state, reason, of string
		if err := row.Scan(&p.Order, &p.Current, &p.State, &p.Message, &text, &state, &reason, &of, &at); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &k); err != nil {
			return fmt.Errorf("store: candidate: %w", err)
		}
		k.State, k.Reason, k.Cluster, k.At = layout.CandidateState(state), reason, of, db.FromMicros(at)
		p.Candidates = append(p.Candidates, k)
		return nil
	}, `SELECT r.place_order, r.cluster, r.status, r.message, a.candidate, a.status, a.reason, a.cluster, a.at FROM place_runs r JOIN place_attempts a ON a.run = r.run
		WHERE r.tenant = ? AND r.run = (SELECT run FROM place_attempts WHERE cluster = ? AND cluster <> '' LIMIT 1) ORDER BY a.position`, tenant, cluster)
	if err != nil || len(p.Candidates) == 0 {
		return nil, err
	}
	return p, nil
}
