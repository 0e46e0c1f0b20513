package policy

import (
	"context"
	"maps"
	"slices"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/plan"
	"muster/app/store/db"
)

const paceColumns = `p.done_runs, p.done_mean, p.done_spread, p.again_runs, p.again_mean, p.again_spread, p.failed_runs, p.failed_mean, p.failed_spread`

func paceDest(p *plan.DurationStats) []any {
	return []any{&p.Done.Runs, &p.Done.Mean, &p.Done.Spread, &p.Again.Runs, &p.Again.Mean, &p.Again.Spread, &p.Failed.Runs, &p.Failed.Mean, &p.Failed.Spread}
}

func addPaceKey(kinds []plan.DurationKey) func([]any, int) []any {
	return func(args []any, i int) []any { return append(args, kinds[i].Tenant, kinds[i].Kind()) }
}

const paceByKey = `) SELECT p.tenant, p.kind, p.id, p.wider, ` + paceColumns + ` FROM f CROSS JOIN step_durations p WHERE p.tenant = f.t AND p.kind = f.k`

// DurationStats returns what is known of those of the kinds of which anything is.
// Each kind is found by an index.
func (s *Store) DurationStats(ctx context.Context, kinds []plan.DurationKey) (plan.DurationStatsByKey, error) {
	known := plan.DurationStatsByKey{}
	of := make(map[[2]string]plan.DurationKey, len(kinds))
	for _, k := range kinds {
		of[[2]string{k.Tenant, k.Kind()}] = k
	}
	err := db.InChunks(len(kinds), func(from, size int) error {
		args := make([]any, 0, 2*size)
		for i := range size {
			args = addPaceKey(kinds)(args, from+i)
		}
		return s.Each(ctx, func(row db.Scanner) error {
			var at [2]string
			var id, wider int64
			var p plan.DurationStats
			if err := row.Scan(append([]any{&at[0], &at[1], &id, &wider}, paceDest(&p)...)...); err != nil {
				return err
			}
			if k, asked := of[at]; asked && p != (plan.DurationStats{}) {
				known[k] = p
			}
			return nil
		}, `WITH f(t, k) AS (VALUES `+db.Repeated(`(?, ?)`, size)+paceByKey, args...)
	})
	return known, err
}

// DropDurationStats implements cluster.RetentionStore. What is wider was seen whenever what is narrower was, so it does not go before it.
func (s *Store) DropDurationStats(ctx context.Context, before time.Time) (int, error) {
	var n int64
	err := s.Write(ctx, func(t *db.Tx) (err error) {
		n, err = t.Count(`DELETE FROM step_durations WHERE id IN (SELECT id FROM step_durations WHERE seen_at < ?
			ORDER BY seen_at LIMIT ?)`, db.Micros(before), db.DeleteBatch)
		return err
	})
	return int(n), err
}

// PacesOf returns the rows of kinds, and makes missing ones, the widest first.
func PacesOf(t *db.Tx, now time.Time, kinds []plan.DurationKey) ([]int64, error) {
	if len(kinds) == 0 {
		return nil, nil
	}
	rows := map[plan.DurationKey]int64{}
	if err := findPaces(t, kinds, rows); err != nil {
		return nil, err
	}
	var missing []plan.DurationKey // with all that are wider
	seen := map[plan.DurationKey]bool{}
	for _, k := range kinds {
		if rows[k] > 0 {
			continue
		}
		for _, k := range k.Widths() {
			if !seen[k] {
				seen[k] = true
				missing = append(missing, k)
			}
		}
	}
	if len(missing) > 0 {
		if err := findPaces(t, missing, rows); err != nil {
			return nil, err
		}
	}
	// One round for each width: a row names those that are wider.
	for width := 1; len(missing) > 0; width++ {
		var those, rest []plan.DurationKey
		for _, k := range missing {
			if len(k.Widths()) == width {
				those = append(those, k)
			} else {
				rest = append(rest, k)
			}
		}
		those = slices.DeleteFunc(those, func(k plan.DurationKey) bool { return rows[k] > 0 })
		if err := makePaces(t, now, those, rows); err != nil {
			return nil, err
		}
		missing = rest
	}
	ids := make([]int64, len(kinds))
	for i, k := range kinds {
		ids[i] = rows[k]
	}
	return ids, nil
}

func findPaces(t *db.Tx, kinds []plan.DurationKey, rows map[plan.DurationKey]int64) error {
	of := make(map[[2]string]plan.DurationKey, len(kinds))
	for _, k := range kinds {
		of[[2]string{k.Tenant, k.Kind()}] = k
	}
	var at [2]string
	var id int64
	return t.EachKeyed(func(row db.Scanner) error {
		err := row.Scan(&at[0], &at[1], &id)
		rows[of[at]] = id
		return err
	}, len(kinds), `WITH f(t, k) AS (VALUES `, `(?, ?)`, `) SELECT p.tenant, p.kind, p.id FROM f CROSS JOIN step_durations p WHERE p.tenant = f.t
		AND p.kind = f.k`,
		addPaceKey(kinds))
}

// makePaces adds rows whose wider ones are there.
func makePaces(t *db.Tx, now time.Time, kinds []plan.DurationKey, rows map[plan.DurationKey]int64) error {
	err := t.ExecChunks(len(kinds), `INSERT INTO step_durations (tenant, kind, wider, widest, seen_at)
		VALUES `, `(?, ?, ?, ?, ?)`, ``, func(args []any, i int) []any {
		k := kinds[i]
		widths := k.Widths()
		var wider, widest int64
		if len(widths) > 1 {
			wider, widest = rows[widths[1]], rows[widths[len(widths)-1]]
		}
		return append(args, k.Tenant, k.Kind(), wider, widest, db.Micros(now))
	})
	if err != nil || len(kinds) == 0 {
		return err
	}
	return findPaces(t, kinds, rows)
}

// Pacing is what the attempts of a set took, by the row of their kind, in the order of their reports.
type Pacing map[int64][]plan.DurationSample

// Note takes an attempt in that has just ended. One that was asked to stop, or that tried nothing, says nothing about how long its
// step takes; nor does one whose machine was ready.
func (p Pacing) Note(set *ledger.Set, st *ledger.Step, f execution.Finish) {
	if st.DurationKey == 0 || st.StartedAt.IsZero() || f.Pooled ||
		f.Err != nil && (f.Retry.Free || set.Operation(st.Operation).Status == app.OperationCancelling) {
		return
	}
	p[st.DurationKey] = append(p[st.DurationKey], plan.DurationSample{Duration: f.Now.Sub(st.StartedAt), Failed: f.Err != nil, Attempt: f.Fence.Attempt})
}

// paceRow is a summary that changes.
type paceRow struct {
	id, wider, widest int64
	pace              plan.DurationStats
}

// widthsOfPaces loads the rows of kinds with those that are wider, which are found by their numbers.
const widthsOfPaces = `) SELECT p.id, p.wider, p.widest, ` + paceColumns + ` FROM f CROSS JOIN step_durations n CROSS JOIN step_durations p
	WHERE n.id = f.i AND p.id IN (n.id, n.wider, n.widest)`

// SaveDurationStats takes what attempts took into the summaries of their kinds and of those that are wider: two statements for all
// attempts of a set. Kinds that were forgotten meanwhile stay so.
func SaveDurationStats(t *db.Tx, now time.Time, took Pacing) error {
	if len(took) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(took))
	rows := map[int64]*paceRow{}
	err := t.EachKeyed(func(row db.Scanner) error {
		r := &paceRow{}
		err := row.Scan(append([]any{&r.id, &r.wider, &r.widest}, paceDest(&r.pace)...)...)
		if rows[r.id] == nil {
			rows[r.id] = r
		}
		return err
	}, len(ids), `WITH f(i) AS (VALUES `, `(?)`, widthsOfPaces, func(args []any, i int) []any { return append(args, ids[i]) })
	if err != nil {
		return err
	}
	for _, id := range ids {
		narrow := rows[id]
		if narrow == nil {
			continue
		}
		widths := []int64{narrow.id, narrow.wider, narrow.widest}
		if narrow.wider == narrow.widest {
			widths = widths[:2]
		}
		for _, at := range widths {
			if r := rows[at]; r != nil {
				for _, a := range took[id] {
					r.pace = r.pace.Add(a)
				}
			}
		}
	}
	changed := slices.Sorted(maps.Keys(rows))
	return t.ExecKeyed(len(changed), `WITH v(id, dr, dm, ds, ar, am, asp, fr, fm, fs) AS (VALUES `, `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, `)
		UPDATE step_durations SET done_runs = v.dr, done_mean = v.dm, done_spread = v.ds, again_runs = v.ar, again_mean = v.am, again_spread = v.asp,
			failed_runs = v.fr, failed_mean = v.fm, failed_spread = v.fs, seen_at = ? FROM v WHERE step_durations.id = v.id`, func(args []any, i int) []any {
		r := rows[changed[i]]
		p := r.pace
		return append(args, r.id, p.Done.Runs, p.Done.Mean, p.Done.Spread, p.Again.Runs, p.Again.Mean, p.Again.Spread, p.Failed.Runs, p.Failed.Mean, p.Failed.Spread)
	}, db.Micros(now))
}
