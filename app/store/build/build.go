package build

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	appbuild "muster/app/build"
	appcluster "muster/app/cluster"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

const buildColumns = `b.id, b.tenant, b.hook, h.name, h.owner, b.rule, b.build_key, b.state, b.message, b.final, b.encrypted_spec, b.event, b.request, b.cluster, b.tries,
	b.begun_at, b.made_at, b.ready_at, b.wait_until, b.end_at, b.ended_at, b.retry_at, b.due_at, b.version, b.callback_shown, b.callback_why`

const buildRows = `SELECT ` + buildColumns + ` FROM builds b JOIN build_hooks h ON h.id = b.hook`

// scanBuild leaves Wanted empty, and returns it encrypted for openWanted.
func scanBuild(row db.Scanner) (b appbuild.Build, wanted []byte, err error) {
	var event []byte
	var begun, made, ready, wait, end, ended, retry, due int64
	var call appbuild.Callbacks
	err = row.Scan(&b.ID, &b.Tenant, &b.HookID, &b.Hook, &b.Owner, &b.Rule, &b.Key, &b.State, &b.Message, &b.Final, &wanted, &event, &b.Request, &b.Cluster, &b.Tries,
		&begun, &made, &ready, &wait, &end, &ended, &retry, &due, &b.Version, &call.URL, &call.Reason)
	if err != nil {
		return b, nil, err
	}
	b.StartedAt, b.CreatedAt, b.ReadyAt, b.WaitUntil = db.FromMicros(begun), db.FromMicros(made), db.FromMicros(ready), db.FromMicros(wait)
	b.EndAt, b.EndedAt, b.RetryAt, b.DueAt = db.FromMicros(end), db.FromMicros(ended), db.FromMicros(retry), db.FromMicros(due)
	if call.URL != "" || call.Reason != "" {
		call.Deliveries = []appbuild.Callback{}
		b.Callback = &call
	}
	if err := json.Unmarshal(event, &b.Event); err != nil {
		return b, nil, fmt.Errorf("build %d: %w", b.ID, err)
	}
	return b, wanted, nil
}

func errNoBuild(id int64) error { return app.Errorf(app.ENotFound, "Build %d doesn't exist.", id) }

// BuildOf returns the build that a cluster is for, as its page tells of it.
func (s *Store) BuildOf(ctx context.Context, tenant, cluster string) (*appcluster.Build, error) {
	list, err := s.Builds(ctx, tenant, appbuild.Filter{Cluster: cluster, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	b := list[0]
	return &appcluster.Build{ID: b.ID, Hook: b.Hook, State: b.State, Event: b.Event}, nil
}

func (s *Store) Builds(ctx context.Context, tenant string, f appbuild.Filter) ([]appbuild.Build, error) {
	where, args := ` WHERE b.tenant = ?`, []any{tenant}
	and := func(text string, value any) {
		where += " AND " + text
		args = append(args, value)
	}
	if f.Hook != "" {
		and(`h.name = ?`, f.Hook)
	}
	if f.Key != "" {
		and(`b.build_key = ?`, f.Key)
	}
	if f.Build != "" {
		and(`b.build = ?`, f.Build)
	}
	if f.Cluster != "" {
		and(`b.cluster = ?`, f.Cluster)
	}
	if f.Live {
		and(`b.live = ?`, 1)
	}
	if f.Before > 0 {
		and(`b.id < ?`, f.Before)
	}
	if f.ID > 0 {
		and(`b.id = ?`, f.ID)
	}
	may, mine := cluster.ReadableBuild(f.Reader)
	where, args = where+may, append(args, mine...)
	list, wanted := []appbuild.Build{}, [][]byte{}
	err := s.Each(ctx, func(row db.Scanner) error {
		b, sealed, err := scanBuild(row)
		list, wanted = append(list, b), append(wanted, sealed)
		return err
	}, buildRows+where+` ORDER BY b.id DESC LIMIT ?`, append(args, f.Limit)...)
	if err != nil {
		return list, err
	}
	for i := range list {
		if err := s.OpenWanted(&list[i], wanted[i]); err != nil {
			return list, err
		}
	}
	return list, s.toldOf(ctx, list)
}

func (s *Store) Build(ctx context.Context, tenant string, id int64) (appbuild.Build, error) {
	b, wanted, err := scanBuild(s.Row(ctx, buildRows+` WHERE b.tenant = ? AND b.id = ?`, tenant, id))
	if db.IsNoRows(err) {
		return b, errNoBuild(id)
	}
	if err != nil {
		return b, db.Wrapped(err)
	}
	if err := s.OpenWanted(&b, wanted); err != nil {
		return b, err
	}
	one := []appbuild.Build{b}
	if err := s.toldOf(ctx, one); err != nil || b.State != app.BuildWaiting {
		return one[0], err
	}
	b = one[0]
	return b, db.Wrapped(s.Row(ctx, `SELECT count(*) FROM builds WHERE hook = ? AND rule = ? AND state = 'waiting' AND live = 1 AND id < ?`,
		b.HookID, b.Rule, b.ID).Scan(&b.Ahead))
}

func build(t *db.Tx, id int64) (appbuild.Build, error) {
	b, wanted, err := scanBuild(t.Row(buildRows+` WHERE b.id = ?`, id))
	if db.IsNoRows(err) {
		return b, errNoBuild(id)
	}
	if err != nil {
		return b, db.Wrapped(err)
	}
	return b, t.Keys.OpenWanted(&b, wanted)
}

// Wake makes builds due: something has happened that may be about them.
func Wake(t *db.Tx, at time.Time, where string, args ...any) error {
	n, err := t.Count(`UPDATE builds SET due_at = ?, version = version + 1 WHERE `+where, append([]any{db.Micros(at)}, args...)...)
	if n > 0 {
		t.Topics[app.BuildsTopic()] = true
	}
	return err
}

// wakeNextBuild lets the one that has waited longest look for room.
func wakeNextBuild(t *db.Tx, at time.Time, hook, rule string) error {
	return Wake(t, at, `id = (SELECT min(n.id) FROM builds n WHERE n.hook = ? AND n.rule = ? AND n.state = 'waiting' AND n.live = 1)`, hook, rule)
}

// Claim moves a build in the transaction that makes its cluster, or the request for one.
func Claim(t *db.Tx, at time.Time, c *app.BuildClaim, state app.BuildState, cluster string, request int64) error {
	if c == nil {
		return nil
	}
	var hook, rule string
	err := t.Row(`UPDATE builds SET state = ?, cluster = ?, request = ?, message = '', tries = 0, made_at = ?, due_at = ?, version = version + 1
		WHERE id = ? AND version = ? AND live = 1 AND state = 'waiting' AND end_at = 0
			AND (SELECT count(*) FROM builds o WHERE o.hook = builds.hook AND o.rule = builds.rule AND o.live = 1 AND o.state <> 'waiting') < ?
		RETURNING hook, rule`, string(state), cluster, request, db.Micros(at), db.Micros(at), c.ID, c.Version, c.AtOnce).Scan(&hook, &rule)
	if db.IsNoRows(err) {
		return &app.Error{Code: app.EConflict, Reason: "build_moved", Message: "The build has changed, or its queue is full."}
	}
	if err != nil {
		return db.Wrapped(err)
	}
	t.Topics[app.BuildsTopic()] = true
	return wakeNextBuild(t, at, hook, rule) // there may be room for more than one
}

// RequestMoved follows the request for a build's cluster.
func RequestMoved(t *db.Tx, at time.Time, r appcluster.Request) error {
	if r.Kind != app.OperationCreate {
		return nil
	}
	if r.Status == appcluster.RequestAccepted {
		n, err := t.Count(`UPDATE builds SET state = 'creating', cluster = ?, message = '', made_at = ?, due_at = ?, version = version + 1
			WHERE request = ? AND live = 1 AND state = 'asking'`, r.Cluster, db.Micros(at), db.Micros(at), r.ID)
		if n > 0 {
			t.Topics[app.BuildsTopic()] = true
		}
		return err
	}
	return Wake(t, at, `request = ? AND live = 1 AND state = 'asking'`, r.ID)
}

func (s *Store) EndBuild(ctx context.Context, who app.Actor, b appbuild.Build, words string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE builds SET end_at = ?, message = ?, due_at = ?, version = version + 1 WHERE id = ? AND tenant = ? AND live = 1 AND end_at = 0`,
			db.Micros(now), words, db.Micros(now), b.ID, b.Tenant)
		if err != nil || n == 0 {
			return err
		}
		t.Topics[app.BuildsTopic()] = true
		return t.AddAudit(now, who, "build.end", b.Object(), nil, map[string]any{"key": b.Key, "cluster": b.Cluster})
	})
}

// DueBuilds implements build.ReconcilerStore. What is due is in an index of its own.
func (s *Store) DueBuilds(ctx context.Context, now time.Time, limit int) (due []appbuild.DueBuild, next time.Time, err error) {
	hooks := map[string]appbuild.BuildHook{}
	var wanted [][]byte
	err = s.Each(ctx, func(row db.Scanner) error {
		b, sealed, err := scanBuild(row)
		due, wanted = append(due, appbuild.DueBuild{Build: b}), append(wanted, sealed)
		return err
	}, buildRows+` WHERE b.due_at > 0 AND b.due_at <= ? AND b.live = 1 ORDER BY b.due_at, b.id LIMIT ?`, db.Micros(now), limit)
	for i := range due {
		if err == nil {
			err = s.OpenWanted(&due[i].Build, wanted[i])
		}
	}
	if err != nil {
		return nil, next, err
	}
	for i, d := range due {
		h, known := hooks[d.HookID]
		if !known {
			if h, err = scanBuildHook(s.Row(ctx, `SELECT `+buildHookColumns+` FROM build_hooks h WHERE h.id = ?`, d.HookID)); err != nil {
				return nil, next, db.Wrapped(err)
			}
			hooks[d.HookID] = h
		}
		due[i].Of = h
	}
	var at int64
	err = s.Row(ctx, `SELECT COALESCE(min(due_at), 0) FROM builds WHERE due_at > ?`, db.Micros(now)).Scan(&at)
	if len(due) == limit {
		at = db.Micros(now)
	}
	return due, db.FromMicros(at), db.Wrapped(err)
}

func (s *Store) MoveBuild(ctx context.Context, b appbuild.Build, notice *app.Notice, tell *app.BuildNews, now time.Time) (done bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		live := b.State.Live()
		if !live {
			b.DueAt = time.Time{}
		}
		n, err := t.Count(`UPDATE builds SET live = ?, state = ?, message = ?, final = ?, tries = ?, ready_at = ?, end_at = ?, ended_at = ?, retry_at = ?, due_at = ?, version = version + 1
			WHERE id = ? AND version = ?`, db.Flag(live), string(b.State), b.Message, string(b.Final), b.Tries, db.Micros(b.ReadyAt), db.Micros(b.EndAt), db.Micros(b.EndedAt),
			db.Micros(b.RetryAt), db.Micros(b.DueAt), b.ID, b.Version)
		if done = n > 0; err != nil || !done {
			return err
		}
		t.Topics[app.BuildsTopic()] = true
		if !live {
			if err := wakeNextBuild(t, now, b.HookID, b.Rule); err != nil {
				return err
			}
		}
		if tell != nil {
			if err := queueCallbacks(t, b.Tenant, *tell); err != nil {
				return err
			}
		}
		if notice == nil {
			return nil
		}
		return t.Notice(*notice)
	})
	return done, err
}
