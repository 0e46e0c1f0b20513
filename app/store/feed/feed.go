package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/store/db"
)

// A row of the feed may tell of many changes, since a row for each would cost as much as the change itself. The event's
// number is that of its row times this, plus its place in the row: so every event has a number of its own to continue from.
const perRow = 1024

// maxChanges is how many changes one row of the feed tells of.
const maxChanges = 256

func (s *Store) Events(ctx context.Context, tenant, cluster string, after int64, limit int) ([]app.Event, error) {
	events := []app.Event{}
	if limit <= 0 {
		return events, nil
	}
	var changes []EventChange
	err := s.Each(ctx, func(row db.Scanner) error {
		var e app.Event
		var at int64
		var list []byte
		if err := row.Scan(&e.Seq, &at, &e.Tenant, &e.Cluster, &e.Operation, &e.Kind, &e.Node, &e.Step, &e.Status, &e.Message, &e.Done, &e.Total,
			&list); err != nil {
			return err
		}
		e.At, e.Seq = db.FromMicros(at), e.Seq*perRow
		changes = append(changes[:0], EventChange{e.Step, e.Node, e.Status, e.Message})
		if len(list) > 0 {
			changes = nil
			if err := json.Unmarshal(list, &changes); err != nil {
				return err
			}
		}
		for i, c := range changes {
			if len(c) < 3 {
				return fmt.Errorf("event %d: a change of %d parts", e.Seq, len(c))
			}
			one := e
			one.Seq += int64(i)
			if one.Step, one.Node, one.Status = c[0], c[1], c[2]; len(c) > 3 {
				one.Message = c[3]
			}
			if one.Seq > after && len(events) < limit {
				events = append(events, one)
			}
		}
		return nil
	}, `SELECT seq, at, tenant, cluster, operation, kind, node, step, status, message, done, total, changes FROM events
		WHERE tenant = ? AND cluster = ? AND seq >= ? ORDER BY seq LIMIT ?`, tenant, cluster, after/perRow, limit+1)
	return events, err
}

func (s *Store) Logs(ctx context.Context, tenant, cluster string, f appcluster.LogFilter) ([]app.LogLine, error) {
	order := "ASC"
	if f.Tail {
		order = "DESC"
	}
	lines := []app.LogLine{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var l app.LogLine
		var at int64
		err := row.Scan(&l.Seq, &at, &l.Operation, &l.Index, &l.Attempt, &l.Step, &l.Node, &l.Stream, &l.Text)
		l.At = db.FromMicros(at)
		lines = append(lines, l)
		return err
	}, `SELECT seq, at, operation, idx, attempt, step, node, stream, text FROM logs
		WHERE tenant = ? AND cluster = ? AND seq > ? AND (? = 0 OR operation = ?) AND (? = '' OR node = ?) AND (? = '' OR step = ?)
		AND (? = '' OR stream = ?) AND (? = 0 OR seq < ?) ORDER BY seq `+order+` LIMIT ?`,
		tenant, cluster, f.After, f.Operation, f.Operation, f.Node, f.Node, f.Step, f.Step, string(f.Stream), string(f.Stream), f.Before, f.Before, f.Limit)
	if f.Tail {
		for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
			lines[i], lines[j] = lines[j], lines[i]
		}
	}
	return lines, err
}

// AppendLogs implements execution.Store. The tenant, cluster, step and node of a line are those of its fence.
func (s *Store) AppendLogs(ctx context.Context, tenant string, lines []app.LogLine) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var cluster string
		var stream app.Stream
		return t.EachOf(func(row db.Scanner) error {
			err := row.Scan(&cluster, &stream)
			t.Topics[app.OutputTopic(cluster)] = true
			if stream == family.StreamSystem {
				t.Topics[app.ClusterTopic(cluster)] = true
			}
			return err
		}, len(lines), `WITH v(n, at, st, te, o, i, a) AS (VALUES `, `(?, ?, ?, ?, ?, ?, ?)`,
			`) INSERT INTO logs (at, tenant, cluster, operation, idx, attempt, step, node, stream, text)
			SELECT v.at, s.tenant, s.cluster, s.operation, s.idx, s.attempt, s.step, s.node, v.st, v.te FROM v CROSS JOIN steps s
			WHERE s.operation = v.o AND s.idx = v.i AND s.attempt = v.a AND s.tenant = ? AND s.state = 'running' ORDER BY v.n RETURNING cluster, stream`,
			func(args []any, i int) []any {
				l := lines[i]
				return append(args, i, db.Micros(l.At), string(l.Stream), l.Text, l.Operation, l.Index, l.Attempt)
			}, tenant)
	})
}

// EventChange is one change in a row of the feed that tells of many: step, node, status and, mostly left out, a message.
type EventChange []string

// EventBatch is an event that tells of changes which have all but step, node, status and message in common.
type EventBatch struct {
	app.Event
	Changes []EventChange
}

// WriteBatches adds events to the feeds of their clusters.
func WriteBatches(t *db.Tx, all []*EventBatch) error {
	type row struct {
		*EventBatch
		text []byte
	}
	var rows []row
	for _, m := range all {
		t.Topics[app.ClusterTopic(m.Cluster)], t.Topics[app.TenantTopic(m.Tenant)] = true, true
		for changes := range slices.Chunk(m.Changes, maxChanges) {
			b, err := json.Marshal(changes)
			if err != nil {
				return fmt.Errorf("store: event: %w", err)
			}
			rows = append(rows, row{m, b})
		}
	}
	return t.ExecChunks(len(rows), `INSERT INTO events (at, tenant, cluster, operation, kind, node, step, status, message, done, total, changes) VALUES `,
		`(?, ?, ?, ?, ?, '', '', '', '', ?, ?, ?)`, ``, func(args []any, i int) []any {
			e := rows[i]
			return append(args, db.Micros(e.At), e.Tenant, e.Cluster, e.Operation, string(e.Kind), e.Done, e.Total, string(e.text))
		})
}
