package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/operation"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

// BackfillColumns are those that BackfillRow scans.
const BackfillColumns = `u.wanted, u.off, u.due_at, u.tried_at, u.tries, u.operation, u.request, u.note`

// BackfillRow is a row of BackfillColumns on its way.
type BackfillRow struct {
	appcluster.Backfill
	off, due, tried int64
}

func (u *BackfillRow) Dest() []any {
	return []any{&u.Target, &u.off, &u.due, &u.tried, &u.Tries, &u.Operation, &u.Request, &u.Note}
}

func (u *BackfillRow) Value() appcluster.Backfill {
	u.Off, u.NextAt, u.LastTriedAt = u.off != 0, db.FromMicros(u.due), db.FromMicros(u.tried)
	return u.Backfill
}

// Backfill returns what a cluster lacks; nil for nothing.
func Backfill(t *db.Tx, cluster string) (*appcluster.Backfill, error) {
	var u BackfillRow
	err := t.Row(`SELECT `+BackfillColumns+` FROM backfills u WHERE u.cluster = ?`, cluster).Scan(u.Dest()...)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: backfill: %w", err)
	}
	v := u.Value()
	return &v, nil
}

// backfillAfter says when what a cluster lacks is asked for again, at the end of an operation: of an accepted partial result that succeeded it becomes known that
// the cluster lacks something. Status is that of the cluster from now on; "" where it stays as it was.
func backfillAfter(t *db.Tx, now time.Time, o app.Operation, status app.ClusterStatus) error {
	if status == app.ClusterDeleted {
		return t.Exec(`DELETE FROM backfills WHERE cluster = ?`, o.Cluster)
	}
	u, err := Backfill(t, o.Cluster)
	if err != nil {
		return err
	}
	went := o.Kind == app.OperationAcceptPartial && o.Status == app.OperationSucceeded
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
	if status == app.ClusterActive && c.Size >= u.Target {
		if err := t.Notice(app.Notice{At: now, Tenant: o.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
			Title: fmt.Sprintf("%s has all %d nodes.", c.Name, u.Target), Text: "The missing nodes have been added."}); err != nil {
			return err
		}
		return t.Exec(`DELETE FROM backfills WHERE cluster = ?`, o.Cluster)
	}
	note := u.Note
	if o.ID == u.Operation {
		switch o.Status {
		case app.OperationFailed:
			note = o.Message
		case app.OperationCancelled:
			u.Off, note = true, fmt.Sprintf("Operation %d was cancelled.", o.ID)
			if o.StartedAt.IsZero() && o.Message != "" {
				note = o.Message
			}
		}
	}
	off, due := 0, db.Micros(now.Add(operation.BackfillGap(u.Tries)))
	if u.Off {
		off = 1
	}
	if u.Off || status == app.ClusterAsleep || status == "" && c.Status == app.ClusterAsleep {
		due = 0
	}
	return t.Exec(`UPDATE backfills SET off = ?, due_at = ?, tries = ?, note = ? WHERE cluster = ?`, off, due, u.Tries, note, o.Cluster)
}

// lacks notes how many nodes a cluster was to have with which it was gone on with fewer. One that was asked for by itself keeps what people
// said, and begins its back-off again where it has grown.
func lacks(t *db.Tx, o app.Operation, c app.Cluster, had *appcluster.Backfill) (*appcluster.Backfill, error) {
	var was []byte
	if err := t.Row(`SELECT was FROM operation_changes WHERE operation = ?`, o.ID).Scan(&was); err != nil {
		return nil, fmt.Errorf("store: change of operation %d: %w", o.ID, err)
	}
	var before ChangeText
	if err := json.Unmarshal(was, &before); err != nil {
		return nil, fmt.Errorf("store: change of operation %d: %w", o.ID, err)
	}
	if had != nil && had.Operation == o.Accepts {
		var size struct {
			Size int `json:"size"`
		}
		err := t.Row(`SELECT was FROM operation_changes WHERE operation = ?`, o.Accepts).Scan(&was)
		if err == nil {
			err = json.Unmarshal(was, &size)
		}
		if err != nil {
			return nil, fmt.Errorf("store: change of operation %d: %w", o.Accepts, err)
		}
		if c.Size > size.Size {
			had.Tries = 0
		}
		return had, nil
	}
	u := &appcluster.Backfill{Target: before.Size, Off: o.NoBackfill}
	off := 0
	if u.Off {
		off = 1
	}
	return u, t.Exec(`INSERT INTO backfills (cluster, tenant, wanted, off, due_at) VALUES (?, ?, ?, ?, 0) ON CONFLICT (cluster) DO UPDATE SET
		wanted = excluded.wanted, off = excluded.off, due_at = 0, tried_at = 0, tries = 0, operation = 0, request = 0, note = ''`,
		c.ID, c.Tenant, u.Target, off)
}
