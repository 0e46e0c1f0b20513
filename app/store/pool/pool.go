package pool

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	apppool "muster/app/pool"
	"muster/app/store/db"
	"muster/app/store/identity"
	"muster/app/store/operation"
)

const poolColumns = `p.id, p.tenant, p.name, p.hardware, p.image, p.provider, p.zone, p.target_size, p.max_age, p.mode, p.created_by, p.created_at,
	p.version, p.due_at, p.failures, p.retry_at, p.error, p.failed_at, p.notified, p.ended_at`

func scanPool(row db.Scanner, more ...any) (p apppool.Pool, err error) {
	var age, made, due, retry, troubled, notified, ended int64
	err = row.Scan(append([]any{&p.ID, &p.Tenant, &p.Name, &p.Hardware, &p.Image, &p.Provider, &p.Zone, &p.Count, &age, &p.Mode, &p.CreatedBy, &made, &p.Version, &due,
		&p.Failures, &retry, &p.Error, &troubled, &notified, &ended}, more...)...)
	p.MaxAge, p.CreatedAt, p.DueAt, p.RetryAt = time.Duration(age)*time.Microsecond, db.FromMicros(made), db.FromMicros(due), db.FromMicros(retry)
	p.ErrorAt, p.Notified, p.EndedAt = db.FromMicros(troubled), notified != 0, db.FromMicros(ended)
	return p, err
}

func noPool(err error, name string) error {
	if db.IsNoRows(err) {
		return app.Errorf(app.ENotFound, "Pool %q doesn't exist.", name)
	}
	return db.Wrapped(err)
}

func (s *Store) CreatePool(ctx context.Context, who app.Actor, p apppool.Pool) (apppool.Pool, error) {
	err := s.Write(ctx, func(t *db.Tx) error {
		if err := identity.TenantOpen(t, p.Tenant); err != nil {
			return err
		}
		var there, named int
		if err := t.Row(`SELECT count(*), coalesce(sum(CASE WHEN name = ? THEN 1 ELSE 0 END), 0) FROM pools WHERE tenant = ? AND ended_at = 0`, p.Name, p.Tenant).
			Scan(&there, &named); err != nil {
			return db.Wrapped(err)
		}
		switch {
		case named > 0:
			return &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("Pool %q already exists.", p.Name), Hint: "Choose another name. A deleted pool keeps its name until its machines are gone."}
		case there >= apppool.MaxPools:
			return app.Errorf(app.EConflict, "You've reached the limit of %d pools.", there)
		}
		if err := t.Row(`INSERT INTO pools (tenant, name, hardware, image, provider, zone, target_size, max_age, mode, created_by, created_at, version, due_at, failures, retry_at,
				error, failed_at, notified, ended_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, 0, 0, '', 0, 0, 0) RETURNING id`, p.Tenant, p.Name, p.Hardware, p.Image, p.Provider, p.Zone, p.Count,
			p.MaxAge.Microseconds(), string(p.Mode), p.CreatedBy, db.Micros(p.CreatedAt), db.Micros(p.CreatedAt)).Scan(&p.ID); err != nil {
			return db.Wrapped(err)
		}
		return t.AddAudit(p.CreatedAt, who, "pool.create", p.Name, nil, poolDetail(p))
	})
	return p, err
}

// poolDetail is a pool as the audit tells of it.
func poolDetail(p apppool.Pool) any {
	return map[string]any{"hardware": p.Hardware, "image": p.Image, "provider": p.Provider, "zone": p.Zone, "count": p.Count, "max_age": p.MaxAge.String(), "mode": p.Mode}
}

func (s *Store) ChangePool(ctx context.Context, who app.Actor, p apppool.Pool, act string, now time.Time) (is apppool.Pool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		was, err := scanPool(t.Row(`SELECT `+poolColumns+` FROM pools p WHERE p.tenant = ? AND p.name = ? AND p.ended_at = 0`, p.Tenant, p.Name))
		if err != nil {
			return noPool(err, p.Name)
		}
		if was.Mode == apppool.ModeDeleted {
			return app.Errorf(app.EConflict, "Pool %q is being deleted.", p.Name)
		}
		is = was
		is.Count, is.MaxAge, is.Mode = p.Count, p.MaxAge, p.Mode
		// Anyone who changes it wants to see what comes of it: it is tried again at once.
		if err := t.Exec(`UPDATE pools SET target_size = ?, max_age = ?, mode = ?, version = version + 1, due_at = ?, retry_at = 0 WHERE id = ?`,
			is.Count, is.MaxAge.Microseconds(), string(is.Mode), db.Micros(now), was.ID); err != nil {
			return err
		}
		if is.MaxAge < was.MaxAge {
			// Existing ones come under the new age too.
			if err := t.Exec(`UPDATE pool_machines SET expires_at = CASE WHEN expires_at > created_at + ? THEN created_at + ? ELSE expires_at END
				WHERE pool = ? AND state IN ('making', 'ready')`, is.MaxAge.Microseconds(), is.MaxAge.Microseconds(), was.ID); err != nil {
				return err
			}
		}
		return t.AddAudit(now, who, act, p.Name, poolDetail(was), poolDetail(is))
	})
	return is, err
}

func (s *Store) Pool(ctx context.Context, tenant, name string, ended bool) (apppool.Pool, error) {
	where := ` AND p.ended_at = 0`
	if ended {
		where = ` ORDER BY CASE WHEN p.ended_at = 0 THEN 0 ELSE 1 END, p.id DESC LIMIT 1`
	}
	p, err := scanPool(s.Row(ctx, `SELECT `+poolColumns+` FROM pools p WHERE p.tenant = ? AND p.name = ?`+where, tenant, name))
	return p, noPool(err, name)
}

// poolCounts are the states in which a machine is, or may be, there and the pool's.
const poolCounts = `m.state IN ('making', 'ready', 'promised', 'failed', 'leaving')`

func (s *Store) PoolViews(ctx context.Context, tenant string, today time.Time) ([]apppool.View, error) {
	list, of := []apppool.View{}, map[int64]int{}
	err := s.Each(ctx, func(row db.Scanner) error {
		p, err := scanPool(row)
		of[p.ID] = len(list)
		list = append(list, apppool.View{Pool: p})
		return err
	}, `SELECT `+poolColumns+` FROM pools p WHERE p.tenant = ? AND p.ended_at = 0 ORDER BY p.name`, tenant)
	if err != nil || len(list) == 0 {
		return list, err
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var pool, since int64
		var state apppool.State
		var n, late int
		var cost float64
		if err := row.Scan(&pool, &state, &n, &late, &since, &cost); err != nil {
			return err
		}
		i, known := of[pool]
		if !known {
			return nil
		}
		v := &list[i]
		switch state {
		case apppool.StateReady:
			v.Ready, v.WaitedSince = n, db.FromMicros(since)
		case apppool.StateCreating:
			v.Creating = n
		case apppool.StateReserved:
			v.Reserved = n
		case apppool.StateFailed:
			v.Failed = n
		case apppool.StateDeleting:
			v.Deleting = n
		case apppool.StateAssigned:
			v.HandedOut, v.HandedOutToday = n, late
			return nil
		}
		v.CostPerHour += cost
		return nil
	}, `SELECT m.pool, m.state, count(*), coalesce(sum(CASE WHEN m.ended_at >= ? THEN 1 ELSE 0 END), 0), coalesce(min(m.ready_at), 0),
			CAST(coalesce(sum(CASE WHEN m.state = 'handed' THEN 0.0 ELSE c.cost_per_hour END), 0) AS DOUBLE PRECISION)
		FROM pools p JOIN pool_machines m ON m.pool = p.id JOIN clusters c ON c.id = m.cluster
		WHERE p.tenant = ? AND p.ended_at = 0 AND m.state <> 'gone' GROUP BY m.pool, m.state`, db.Micros(today), tenant)
	return list, err
}

func (s *Store) PoolMachines(ctx context.Context, pool int64, handed int) ([]apppool.Machine, error) {
	where, args := poolCounts+` ORDER BY m.created_at, m.cluster LIMIT ?`, []any{pool, 4 * apppool.MaxPoolCount}
	if handed > 0 {
		where, args = `m.state = 'handed' ORDER BY m.ended_at DESC, m.cluster LIMIT ?`, []any{pool, handed}
	}
	list := []apppool.Machine{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var m apppool.Machine
		var made, ready, expires, ended int64
		err := row.Scan(&m.Cluster, &m.State, &m.Shape, &m.Zone, &made, &ready, &expires, &ended, &m.ForCluster, &m.ForNode, &m.Message, &m.Price, &m.MachineID)
		if m.Since = db.FromMicros(made); ready > 0 {
			m.Since = db.FromMicros(ready)
		}
		if ended > 0 {
			m.Since = db.FromMicros(ended)
		}
		if m.ExpiresAt = db.FromMicros(expires); m.State == apppool.StateAssigned {
			m.ExpiresAt = time.Time{}
		}
		list = append(list, m)
		return err
	}, `SELECT m.cluster, m.state, m.shape, m.zone, m.created_at, m.ready_at, m.expires_at, m.ended_at, m.for_cluster, m.for_node,
			CASE WHEN c.deleted_at = 0 THEN c.message ELSE '' END, c.cost_per_hour, d.machine_id
		FROM pool_machines m JOIN clusters c ON c.id = m.cluster JOIN nodes d ON d.cluster = m.cluster AND d.name = 'n1' WHERE m.pool = ? AND `+where, args...)
	return list, err
}

func (s *Store) PoolReceipt(ctx context.Context, pool int64, now time.Time) (r apppool.Receipt, err error) {
	p, err := scanPool(s.Row(ctx, `SELECT `+poolColumns+` FROM pools p WHERE p.id = ?`, pool))
	if err != nil {
		return r, db.Wrapped(err)
	}
	r = apppool.Receipt{Pool: p.Name, Provider: p.Provider, CreatedAt: p.CreatedAt, DeletedAt: p.EndedAt, AsOf: now}
	var life float64
	at := db.Micros(now)
	err = s.Row(ctx, `SELECT count(*), coalesce(sum(CASE WHEN m.state = 'handed' THEN 1 ELSE 0 END), 0),
			coalesce(sum(CASE WHEN m.state = 'gone' AND c.deletion_verified_at > 0 THEN 1 ELSE 0 END), 0),
			coalesce(sum(CASE WHEN m.state = 'handed' OR m.state = 'gone' AND c.deletion_verified_at > 0 THEN 0 ELSE 1 END), 0)
		FROM pool_machines m JOIN clusters c ON c.id = m.cluster WHERE m.pool = ?`, pool).Scan(&r.Machines, &r.HandedOut, &r.Deleted, &r.Remaining)
	if err != nil {
		return r, db.Wrapped(err)
	}
	err = s.Row(ctx, `SELECT CAST(coalesce(sum(e.stood), 0) AS DOUBLE PRECISION), CAST(coalesce(sum(e.stood * e.price), 0) AS DOUBLE PRECISION) FROM (
			SELECT x.price AS price, CASE WHEN x.deleted_at = 0 THEN ? - x.created_at
				WHEN x.deleted_at > x.created_at THEN x.deleted_at - x.created_at ELSE 0 END AS stood
			FROM pool_machines m JOIN resources x ON x.cluster = m.cluster WHERE m.pool = ?) e`, at, pool).Scan(&life, &r.Cost)
	r.Lifetime = time.Duration(life) * time.Microsecond
	r.Cost /= float64(time.Hour.Microseconds())
	return r, db.Wrapped(err)
}

// PoolStock returns the machines of a tenant that are ready and of one of the shapes, in the order in which they are handed out.
func (s *Store) PoolStock(ctx context.Context, tenant string, shapes []string, now time.Time) ([]appcluster.PoolStocked, error) {
	return operation.PoolStock(func(f func(db.Scanner) error, q string, args ...any) error { return s.Each(ctx, f, q, args...) }, tenant, shapes, now)
}

// AssignedIntents returns the intents of machines that clusters got from pools, or that were kept of clusters, with the clusters that they're in now: such a
// machine's tags may name the one before.
func (s *Store) AssignedIntents(ctx context.Context, clusters []string) (map[string]string, error) {
	of := map[string]string{}
	add := func(row db.Scanner) error {
		var intent, cluster string
		err := row.Scan(&intent, &cluster)
		of[intent] = cluster
		return err
	}
	err := db.InChunks(len(clusters), func(from, size int) error {
		var args []any
		for _, c := range clusters[from : from+size] {
			args = append(args, c)
		}
		in := `IN (` + db.Repeated(`?`, size) + `)`
		if err := s.Each(ctx, add, `SELECT i.id, i.cluster FROM clusters c JOIN intents i ON i.cluster = c.id WHERE c.kept_from `+in+` AND c.kept_from <> ''`,
			args...); err != nil {
			return err
		}
		if err := s.Each(ctx, add, `SELECT i.id, i.cluster FROM clusters c JOIN intents i ON i.cluster = c.id WHERE c.id `+in+` AND c.kept_from <> ''`,
			args...); err != nil {
			return err
		}
		// Of a kept machine that is used again, the ended line of the receipt says by which intent it is on.
		if err := s.Each(ctx, add, `SELECT i.id, i.cluster FROM resources x JOIN intents i ON i.id = substr(x.intent, 1, length(x.intent) - length(x.cluster) - 1)
			WHERE x.cluster `+in+` AND x.intent LIKE '%/' || x.cluster`, args...); err != nil {
			return err
		}
		return s.Each(ctx, add, `SELECT i.id, i.cluster FROM pool_machines m JOIN intents i ON i.cluster = m.for_cluster AND i.node = m.for_node
			WHERE m.for_cluster `+in+` AND m.for_cluster <> '' AND m.state = 'handed'`, args...)
	})
	return of, err
}
