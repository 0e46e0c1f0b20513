package operation

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/operation"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/ledger"
)

func (s *Store) BackfillsDue(ctx context.Context, now time.Time, limit int) (due []operation.BackfillDue, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var u ledger.BackfillRow
		c, err := cluster.Scan(row, u.Dest()...)
		due = append(due, operation.BackfillDue{Cluster: c, Backfill: u.Value()})
		return err
	}, `SELECT `+cluster.Columns+`, `+ledger.BackfillColumns+` FROM backfills u JOIN clusters c ON c.id = u.cluster
		WHERE u.due_at > 0 AND (u.due_at <= ? OR u.due_at > ?) AND c.deleted_at = 0 AND (c.expires_at = 0 OR c.expires_at > ?) ORDER BY u.due_at LIMIT ?`,
		db.Micros(now), db.Micros(now.Add(operation.BackfillPatience)), db.Micros(now), limit)
	return due, err
}

func (s *Store) BackfillOf(ctx context.Context, tenant, cluster string) (*appcluster.Backfill, error) {
	var u ledger.BackfillRow
	err := s.Row(ctx, `SELECT `+ledger.BackfillColumns+` FROM backfills u WHERE u.cluster = ? AND u.tenant = ?`, cluster, tenant).Scan(u.Dest()...)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: backfill: %w", err)
	}
	v := u.Value()
	return &v, nil
}

// NoteBackfill implements operation.BackfillStore. What an operation that was begun meanwhile says of the next try stays.
func (s *Store) NoteBackfill(ctx context.Context, n operation.BackfillNote) (noted bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		u, err := ledger.Backfill(t, n.Cluster)
		if err != nil || u == nil {
			return err
		}
		off, due := 0, db.Micros(n.NextAt)
		if n.Off {
			off, due = 1, 0
		}
		count, err := t.Count(`UPDATE backfills SET off = ?, due_at = ?, tried_at = ?, tries = ?, request = ?, note = ? WHERE cluster = ? AND tenant = ? AND due_at = ?`,
			off, due, db.Micros(n.Now), n.Tries, n.Request, n.Note, n.Cluster, n.Tenant, db.Micros(n.Due))
		if noted = count > 0; err != nil || !noted || u.Note == n.Note {
			return err
		}
		t.Topics[app.ClusterTopic(n.Cluster)] = true
		if n.Tell == nil {
			return nil
		}
		return t.Notice(*n.Tell)
	})
	return noted, err
}

func (s *Store) SetBackfill(ctx context.Context, c operation.BackfillChange) error {
	return s.Write(ctx, func(t *db.Tx) error {
		cluster, err := cluster.Live(t, c.Tenant, c.Cluster)
		if err != nil {
			return err
		}
		u, err := ledger.Backfill(t, cluster.ID)
		if err != nil {
			return err
		}
		if u == nil {
			return &app.Error{Code: app.EConflict, Reason: "nothing_missing", Message: fmt.Sprintf("Cluster %q has all the requested nodes.", cluster.Name),
				Hint: "To add more, resize the cluster."}
		}
		idle, err := idle(t, cluster)
		if err != nil {
			return err
		}
		off, due, tries := 0, int64(0), u.Tries
		switch {
		case c.Off:
			off = 1
		case c.Now && !idle:
			return &app.Error{Code: app.EConflict, Reason: "cluster_" + string(cluster.Status), Message: fmt.Sprintf("Cluster %q is %s, so it can't be backfilled now.", cluster.Name, cluster.Status),
				Hint: "Try again when the cluster is active."}
		case c.Now:
			due, tries = db.Micros(c.At), 0
		case idle && u.Off:
			due, tries = db.Micros(c.At.Add(operation.BackfillGap(0))), 0
		case idle:
			due = db.Micros(u.NextAt)
		}
		if err := t.Exec(`UPDATE backfills SET off = ?, due_at = ?, tries = ? WHERE cluster = ?`, off, due, tries, cluster.ID); err != nil {
			return err
		}
		t.Topics[app.ClusterTopic(cluster.ID)] = true
		return t.AddAudit(c.At, c.Who, "cluster.backfill", cluster.ID, map[string]any{"off": u.Off, "wanted": u.Wanted}, map[string]any{"off": c.Off, "now": c.Now, "wanted": u.Wanted})
	})
}

// idle reports whether nothing is in progress in a cluster and its machines run.
func idle(t *db.Tx, c app.Cluster) (bool, error) {
	if c.Status == app.ClusterAsleep {
		return false, nil
	}
	id, err := ledger.OldestLive(t, c.ID)
	return id == 0, err
}

// backfillWaits puts the next try off while something is in progress in a cluster. Who resizes it by hand wants just that many nodes.
func backfillWaits(t *db.Tx, op app.Operation, itself bool) error {
	switch {
	case itself:
		return t.Exec(`UPDATE backfills SET due_at = 0, operation = ?, tried_at = ?, tries = tries + 1, request = 0, note = '' WHERE cluster = ?`,
			op.ID, db.Micros(op.CreatedAt), op.Cluster)
	case op.Kind == app.OperationResize:
		return t.Exec(`DELETE FROM backfills WHERE cluster = ?`, op.Cluster)
	}
	return t.Exec(`UPDATE backfills SET due_at = 0 WHERE cluster = ? AND due_at > 0`, op.Cluster)
}
