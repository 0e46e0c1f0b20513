package run

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/app"
	"muster/app/plan"
	"muster/app/store/db"
)

// Store keeps commands.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// Save keeps the command of an operation; nil is none.
func Save(t *db.Tx, op app.Operation, r *plan.Run) error {
	if r == nil {
		return nil
	}
	return t.Exec(`INSERT INTO runs (operation, tenant, cluster, run) VALUES (?, ?, ?, ?)`, op.ID, op.Tenant, op.Cluster, db.JSON(r))
}

// SaveExit keeps the exit code of a step, and whether its output was cut; nil forgets that of an attempt before, since this one ended without any.
func SaveExit(t *db.Tx, tenant string, operation int64, step int, code *int, cut bool) error {
	if code == nil && cut {
		none := plan.NoExit
		code = &none
	}
	if code == nil {
		return t.Exec(`DELETE FROM run_exits WHERE operation = ? AND step = ?`, operation, step)
	}
	return t.Exec(`INSERT INTO run_exits (operation, step, tenant, code, cut) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (operation, step) DO UPDATE SET code = excluded.code, cut = excluded.cut`, operation, step, tenant, *code, db.Flag(cut))
}

// DropOf deletes what a tenant has.
func DropOf(t *db.Tx, tenant string) error {
	for _, table := range []string{"run_exits", "action_schedules"} {
		if err := t.Exec(`DELETE FROM `+table+` WHERE tenant = ?`, tenant); err != nil {
			return err
		}
	}
	return t.Exec(`DELETE FROM runs WHERE tenant = ?`, tenant)
}

// RunOf implements run.Store and execution.InputStore.
func (s *Store) RunOf(ctx context.Context, tenant string, operation int64) (plan.Run, error) {
	var r plan.Run
	var text []byte
	err := s.Row(ctx, `SELECT run FROM runs WHERE tenant = ? AND operation = ?`, tenant, operation).Scan(&text)
	switch {
	case db.IsNoRows(err):
		return r, &app.Error{Code: app.ENotFound, Reason: plan.NoRun, Message: fmt.Sprintf("Operation %d doesn't run a command.", operation)}
	case err != nil:
		return r, fmt.Errorf("store: run: %w", err)
	}
	return r, json.Unmarshal(text, &r)
}

// RunExits implements run.Store.
func (s *Store) RunExits(ctx context.Context, tenant string, operation int64) (map[int]plan.RunExit, error) {
	exits := map[int]plan.RunExit{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var step, code, cut int
		err := row.Scan(&step, &code, &cut)
		exits[step] = plan.RunExit{Code: code, Cut: cut != 0}
		return err
	}, `SELECT step, code, cut FROM run_exits WHERE tenant = ? AND operation = ?`, tenant, operation)
	return exits, err
}
