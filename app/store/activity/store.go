package activity

import (
	"context"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

// Store reads the feed.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// clause is a condition with its arguments.
type clause struct {
	text string
	args []any
}

func (c *clause) and(text string, args ...any) {
	c.text, c.args = c.text+" AND "+text, append(c.args, args...)
}

// scan is the part of the audit log that one look reads, by an index and with a bound. Everything else filters only that.
func scan(q activity.FeedQuery) (c clause) {
	c.and("tenant = ?", q.Tenant)
	if q.Before > 0 {
		c.and("number < ?", q.Before)
	}
	if q.Who != "" {
		c.and("user_name = ?", q.Who)
	}
	if q.Cluster != "" {
		c.and("object = ?", q.Cluster)
	}
	c.text = ` FROM audit WHERE ` + strings.TrimPrefix(c.text, " AND ") + ` ORDER BY number DESC LIMIT ?`
	c.args = append(c.args, q.Scan)
	return c
}

// chosen are the acts of the filter.
func chosen(all []activity.Acts) (c clause) {
	var either []string
	for _, a := range all {
		var some []string
		for _, p := range a.Prefixes {
			some, c.args = append(some, "a.act LIKE ?"), append(c.args, p+"%")
		}
		if len(a.Names) > 0 {
			some = append(some, "a.act IN ("+db.Placeholders(len(a.Names))+")")
			for _, n := range a.Names {
				c.args = append(c.args, n)
			}
		}
		one := "(" + strings.Join(some, " OR ") + ")"
		if len(a.Except) > 0 {
			one = "(" + one + " AND a.act NOT IN (" + db.Placeholders(len(a.Except)) + "))"
			for _, n := range a.Except {
				c.args = append(c.args, n)
			}
		}
		either = append(either, one)
	}
	c.text = "(" + strings.Join(either, " OR ") + ")"
	return c
}

// visible lets through entries about clusters and requests that a reader sees; a reader of everything sees all entries.
func visible(r *app.ClusterReader) (c clause) {
	if r == nil || r.SeesAll {
		return clause{text: "1 = 1"}
	}
	clusters, of := cluster.Readable(r)
	requests, mine := cluster.ReadableRequest(r)
	return clause{"((c.id IS NOT NULL" + clusters + ") OR (r.id IS NOT NULL" + requests + "))", slices.Concat(of, mine)}
}

// onClusters are acts whose object is a cluster's ID. Objects of others can be called as a cluster is.
const onClusters = `(a.act LIKE 'cluster.%' OR a.act LIKE 'operation.%' OR a.act IN ('terminal.open', 'terminal.play', 'port.open', 'file.download', 'file.upload'))`

// Activity implements activity.FeedStore.
func (s *Store) Activity(ctx context.Context, q activity.FeedQuery) (list []activity.Entry, last int64, at time.Time, err error) {
	part, acts, may := scan(q), chosen(q.Acts), visible(q.Reader)
	shared, of := cluster.SharedWith(q.Reader)
	where := clause{text: acts.text, args: acts.args}
	where.and(may.text, may.args...)
	if q.Failed {
		where.and("o.status = 'failed'")
	}
	if !q.From.IsZero() {
		where.and("a.at >= ?", db.Micros(q.From))
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var e activity.Entry
		var c app.Cluster
		var at int64
		var access app.Access
		if err := row.Scan(&e.Number, &at, &e.Who, &e.Act, &e.Object, &c.ID, &c.Name, &c.Tenant, &c.Owner, &c.OwnerGroup, &c.Visibility, &c.Pool,
			&access, &e.Request, &e.Operation, &e.Status); err != nil {
			return err
		}
		e.At, e.Cluster, e.Name = db.FromMicros(at), c.ID, c.Name
		e.Access = cluster.AccessOf(q.Reader, c, access)
		list = append(list, e)
		return nil
	}, `SELECT a.number, a.at, a.user_name, a.act, a.object, coalesce(c.id, ''), coalesce(c.name, ''), coalesce(c.tenant, ''), coalesce(c.owner, ''),
			coalesce(c.owner_group, ''), coalesce(c.visibility, ''), coalesce(c.pool, 0), `+shared+`, coalesce(r.id, 0), coalesce(o.id, 0), coalesce(o.status, '')
		FROM (SELECT tenant, number, at, user_name, act, object`+part.text+`) a
		LEFT JOIN clusters c ON c.id = a.object AND c.tenant = a.tenant AND `+onClusters+`
		LEFT JOIN requests r ON r.tenant = a.tenant
			AND r.id = CASE WHEN a.act LIKE 'request.%' AND a.object LIKE 'request %' THEN CAST(substr(a.object, 9) AS BIGINT) END
		LEFT JOIN operations o ON o.cluster = c.id AND o.tenant = c.tenant AND o.created_at = a.at AND a.act = 'cluster.' || o.kind
		WHERE `+where.text+` ORDER BY a.number DESC LIMIT ?`, slices.Concat(of, part.args, where.args, []any{q.Limit})...)
	if err != nil || len(list) >= q.Limit {
		if len(list) > 0 {
			last, at = list[len(list)-1].Number, list[len(list)-1].At
		}
		return list, last, at, err
	}
	// Fewer than asked for: either the log ends here, or the bound was reached.
	var n, first, oldest int64
	err = s.Row(ctx, `SELECT count(*), coalesce(min(number), 0), coalesce(min(at), 0) FROM (SELECT number, at`+part.text+`) a`,
		part.args...).Scan(&n, &first, &oldest)
	if err != nil {
		return nil, 0, at, err
	}
	if n < int64(q.Scan) {
		return list, 0, at, nil
	}
	return list, first, db.FromMicros(oldest), nil
}

// ActivityBefore implements activity.FeedStore. Times follow numbers nearly, so it's a search by halves, each a look-up by the key.
func (s *Store) ActivityBefore(ctx context.Context, tenant string, at time.Time) (int64, error) {
	var end int64
	if err := s.Row(ctx, `SELECT coalesce(max(number), 0) FROM audit WHERE tenant = ?`, tenant).Scan(&end); err != nil {
		return 0, err
	}
	low, high := int64(1), end+1
	for low < high {
		middle := low + (high-low)/2
		var then int64
		if err := s.Row(ctx, `SELECT at FROM audit WHERE tenant = ? AND number = ?`, tenant, middle).Scan(&then); err != nil {
			return 0, err
		}
		if then >= db.Micros(at) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	if low > end {
		return 0, nil
	}
	return low, nil
}
