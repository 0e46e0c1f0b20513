package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/operation"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

const topUpColumns = `u.wanted, u.off, u.due_at, u.tried_at, u.tries, u.operation, u.request, u.note`

// topUpRow is a row of topUpColumns on its way.
type topUpRow struct {
	app.TopUp
	off, due, tried int64
}

func (u *topUpRow) dest() []any {
	return []any{&u.Wanted, &u.off, &u.due, &u.tried, &u.Tries, &u.Operation, &u.Request, &u.Note}
}

func (u *topUpRow) value() app.TopUp {
	u.Off, u.NextAt, u.TriedAt = u.off != 0, db.FromMicros(u.due), db.FromMicros(u.tried)
	return u.TopUp
}

// TopUpsDue implements app.TopUpStore.
func (s *Store) TopUpsDue(ctx context.Context, now time.Time, limit int) (due []app.TopUpDue, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var u topUpRow
		c, err := cluster.Scan(row, u.dest()...)
		due = append(due, app.TopUpDue{Cluster: c, TopUp: u.value()})
		return err
	}, `SELECT `+cluster.Columns+`, `+topUpColumns+` FROM top_ups u JOIN clusters c ON c.id = u.cluster
		WHERE u.due_at > 0 AND (u.due_at <= ? OR u.due_at > ?) AND c.deleted_at = 0 AND (c.expires_at = 0 OR c.expires_at > ?) ORDER BY u.due_at LIMIT ?`,
		db.Micros(now), db.Micros(now.Add(operation.TopUpPatience)), db.Micros(now), limit)
	return due, err
}

// TopUpOf implements app.TopUpStore.
func (s *Store) TopUpOf(ctx context.Context, tenant, cluster string) (*app.TopUp, error) {
	var u topUpRow
	err := s.Row(ctx, `SELECT `+topUpColumns+` FROM top_ups u WHERE u.cluster = ? AND u.tenant = ?`, cluster, tenant).Scan(u.dest()...)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: top-up: %w", err)
	}
	v := u.value()
	return &v, nil
}

// topUp gives what a cluster lacks; nil for nothing.
func topUp(t *db.Tx, cluster string) (*app.TopUp, error) {
	var u topUpRow
	err := t.Row(`SELECT `+topUpColumns+` FROM top_ups u WHERE u.cluster = ?`, cluster).Scan(u.dest()...)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: top-up: %w", err)
	}
	v := u.value()
	return &v, nil
}

// NoteTopUp implements app.TopUpStore. What an operation that was begun meanwhile says of the next try stays.
func (s *Store) NoteTopUp(ctx context.Context, n app.TopUpNote) (noted bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		u, err := topUp(t, n.Cluster)
		if err != nil || u == nil {
			return err
		}
		off, due := 0, db.Micros(n.NextAt)
		if n.Off {
			off, due = 1, 0
		}
		count, err := t.Count(`UPDATE top_ups SET off = ?, due_at = ?, tried_at = ?, tries = ?, request = ?, note = ? WHERE cluster = ? AND tenant = ? AND due_at = ?`,
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

// SetTopUp implements app.TopUpStore.
func (s *Store) SetTopUp(ctx context.Context, c app.TopUpChange) error {
	return s.Write(ctx, func(t *db.Tx) error {
		cluster, err := cluster.Live(t, c.Tenant, c.Cluster)
		if err != nil {
			return err
		}
		u, err := topUp(t, cluster.ID)
		if err != nil {
			return err
		}
		if u == nil {
			return &app.Error{Code: app.EConflict, Reason: "nothing_missing", Message: fmt.Sprintf("Cluster %q has all the nodes that were asked for.", cluster.Name),
				Hint: "Resize it to have more."}
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
			return &app.Error{Code: app.EConflict, Reason: "cluster_" + string(cluster.Status), Message: fmt.Sprintf("Cluster %q is %s, so nothing can be asked for now.", cluster.Name, cluster.Status),
				Hint: "Try again when it is active."}
		case c.Now:
			due, tries = db.Micros(c.At), 0
		case idle && u.Off:
			due, tries = db.Micros(c.At.Add(operation.TopUpGap(0))), 0
		case idle:
			due = db.Micros(u.NextAt)
		}
		if err := t.Exec(`UPDATE top_ups SET off = ?, due_at = ?, tries = ? WHERE cluster = ?`, off, due, tries, cluster.ID); err != nil {
			return err
		}
		t.Topics[app.ClusterTopic(cluster.ID)] = true
		return t.Deed(c.At, c.Who, "cluster.top_up", cluster.ID, map[string]any{"off": u.Off, "wanted": u.Wanted}, map[string]any{"off": c.Off, "now": c.Now, "wanted": u.Wanted})
	})
}

// idle tells whether nothing is under way in a cluster and its machines run.
func idle(t *db.Tx, c app.Cluster) (bool, error) {
	if c.Status == app.ClusterAsleep {
		return false, nil
	}
	id, err := before(t, c.ID)
	return id == 0, err
}

// topUpWaits puts the next try off while something is under way in a cluster. Who resizes it by hand wants just that many nodes.
func topUpWaits(t *db.Tx, op app.Operation, itself bool) error {
	switch {
	case itself:
		return t.Exec(`UPDATE top_ups SET due_at = 0, operation = ?, tried_at = ?, tries = tries + 1, request = 0, note = '' WHERE cluster = ?`,
			op.ID, db.Micros(op.CreatedAt), op.Cluster)
	case op.Kind == app.OperationResize:
		return t.Exec(`DELETE FROM top_ups WHERE cluster = ?`, op.Cluster)
	}
	return t.Exec(`UPDATE top_ups SET due_at = 0 WHERE cluster = ? AND due_at > 0`, op.Cluster)
}

// topUpAfter says when what a cluster lacks is asked for again, at the end of an operation: of a go-on that succeeded it becomes known that
// the cluster lacks something. Status is that of the cluster from now on; "" where it stays as it was.
func topUpAfter(t *db.Tx, now time.Time, o app.Operation, status app.ClusterStatus) error {
	if status == app.ClusterDeleted {
		return t.Exec(`DELETE FROM top_ups WHERE cluster = ?`, o.Cluster)
	}
	u, err := topUp(t, o.Cluster)
	if err != nil {
		return err
	}
	went := o.Kind == app.OperationGoOn && o.Status == app.OperationSucceeded
	if u == nil && !went {
		return nil
	}
	c, err := cluster.Scan(t.Row(`SELECT `+cluster.Columns+` FROM clusters c WHERE c.id = ?`, o.Cluster))
	if err := cluster.ReadError(err, o.Cluster); err != nil {
		return err
	}
	if went {
		if u, err = lacks(t, o, c, u); err != nil {
			return err
		}
	}
	if status == app.ClusterActive && c.Size >= u.Wanted {
		if err := t.Notice(app.Notice{At: now, Tenant: o.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
			Title: fmt.Sprintf("%s has all %d nodes.", c.Name, u.Wanted), Text: "What was missing when it went on has come."}); err != nil {
			return err
		}
		return t.Exec(`DELETE FROM top_ups WHERE cluster = ?`, o.Cluster)
	}
	note := u.Note
	if o.ID == u.Operation {
		switch o.Status {
		case app.OperationFailed:
			note = o.Message
		case app.OperationCancelled:
			u.Off, note = true, fmt.Sprintf("Operation %d was called off.", o.ID)
			if o.StartedAt.IsZero() && o.Message != "" {
				note = o.Message
			}
		}
	}
	off, due := 0, db.Micros(now.Add(operation.TopUpGap(u.Tries)))
	if u.Off {
		off = 1
	}
	if u.Off || status == app.ClusterAsleep || status == "" && c.Status == app.ClusterAsleep {
		due = 0
	}
	return t.Exec(`UPDATE top_ups SET off = ?, due_at = ?, tries = ?, note = ? WHERE cluster = ?`, off, due, u.Tries, note, o.Cluster)
}

// lacks notes how many nodes a cluster was to have with which it was gone on with fewer. One that was asked for by itself keeps what people
// said, and begins its back-off anew where it has grown.
func lacks(t *db.Tx, o app.Operation, c app.Cluster, had *app.TopUp) (*app.TopUp, error) {
	var was []byte
	if err := t.Row(`SELECT was FROM changes WHERE operation = ?`, o.ID).Scan(&was); err != nil {
		return nil, fmt.Errorf("store: change of operation %d: %w", o.ID, err)
	}
	var before changeText
	if err := json.Unmarshal(was, &before); err != nil {
		return nil, fmt.Errorf("store: change of operation %d: %w", o.ID, err)
	}
	if had != nil && had.Operation == o.GoesOn {
		var size struct {
			Size int `json:"size"`
		}
		err := t.Row(`SELECT was FROM changes WHERE operation = ?`, o.GoesOn).Scan(&was)
		if err == nil {
			err = json.Unmarshal(was, &size)
		}
		if err != nil {
			return nil, fmt.Errorf("store: change of operation %d: %w", o.GoesOn, err)
		}
		if c.Size > size.Size {
			had.Tries = 0
		}
		return had, nil
	}
	u := &app.TopUp{Wanted: before.Size, Off: o.NoTopUp}
	off := 0
	if u.Off {
		off = 1
	}
	return u, t.Exec(`INSERT INTO top_ups (cluster, tenant, wanted, off, due_at) VALUES (?, ?, ?, ?, 0) ON CONFLICT (cluster) DO UPDATE SET
		wanted = excluded.wanted, off = excluded.off, due_at = 0, tried_at = 0, tries = 0, operation = 0, request = 0, note = ''`,
		c.ID, c.Tenant, u.Wanted, off)
}
