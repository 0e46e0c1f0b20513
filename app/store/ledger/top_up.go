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

// TopUpColumns are those that TopUpRow scans.
const TopUpColumns = `u.wanted, u.off, u.due_at, u.tried_at, u.tries, u.operation, u.request, u.note`

// TopUpRow is a row of TopUpColumns on its way.
type TopUpRow struct {
	appcluster.TopUp
	off, due, tried int64
}

func (u *TopUpRow) Dest() []any {
	return []any{&u.Wanted, &u.off, &u.due, &u.tried, &u.Tries, &u.Operation, &u.Request, &u.Note}
}

func (u *TopUpRow) Value() appcluster.TopUp {
	u.Off, u.NextAt, u.TriedAt = u.off != 0, db.FromMicros(u.due), db.FromMicros(u.tried)
	return u.TopUp
}

// TopUp returns what a cluster lacks; nil for nothing.
func TopUp(t *db.Tx, cluster string) (*appcluster.TopUp, error) {
	var u TopUpRow
	err := t.Row(`SELECT `+TopUpColumns+` FROM top_ups u WHERE u.cluster = ?`, cluster).Scan(u.Dest()...)
	if db.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: top-up: %w", err)
	}
	v := u.Value()
	return &v, nil
}

// topUpAfter says when what a cluster lacks is asked for again, at the end of an operation: of a go-on that succeeded it becomes known that
// the cluster lacks something. Status is that of the cluster from now on; "" where it stays as it was.
func topUpAfter(t *db.Tx, now time.Time, o app.Operation, status app.ClusterStatus) error {
	if status == app.ClusterDeleted {
		return t.Exec(`DELETE FROM top_ups WHERE cluster = ?`, o.Cluster)
	}
	u, err := TopUp(t, o.Cluster)
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
			Title: fmt.Sprintf("%s has all %d nodes.", c.Name, u.Wanted), Text: "The missing nodes have been added."}); err != nil {
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
			u.Off, note = true, fmt.Sprintf("Operation %d was cancelled.", o.ID)
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
// said, and begins its back-off again where it has grown.
func lacks(t *db.Tx, o app.Operation, c app.Cluster, had *appcluster.TopUp) (*appcluster.TopUp, error) {
	var was []byte
	if err := t.Row(`SELECT was FROM changes WHERE operation = ?`, o.ID).Scan(&was); err != nil {
		return nil, fmt.Errorf("store: change of operation %d: %w", o.ID, err)
	}
	var before ChangeText
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
	u := &appcluster.TopUp{Wanted: before.Size, Off: o.NoTopUp}
	off := 0
	if u.Off {
		off = 1
	}
	return u, t.Exec(`INSERT INTO top_ups (cluster, tenant, wanted, off, due_at) VALUES (?, ?, ?, ?, 0) ON CONFLICT (cluster) DO UPDATE SET
		wanted = excluded.wanted, off = excluded.off, due_at = 0, tried_at = 0, tries = 0, operation = 0, request = 0, note = ''`,
		c.ID, c.Tenant, u.Wanted, off)
}
