package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
)

const clusterColumns = `c.id, c.tenant, c.name, c.owner, c.template, c.provider, c.size, c.services, c.status, c.message,
	c.cost_per_hour, c.dns_suffix, c.created_at, c.expires_at, c.deleted_at, c.pool,
	c.visibility, c.owner_group`

func scanCluster(row scanner, more ...any) (app.Cluster, error) {
	var c app.Cluster
	var services []byte
	var created, expires, deleted int64
	err := row.Scan(append([]any{&c.ID, &c.Tenant, &c.Name, &c.Owner, &c.Template, &c.Provider, &c.Size, &services, &c.Status,
		&c.Message, &c.CostPerHour, &c.DNSSuffix, &created, &expires, &deleted, &c.Pool,
		&c.Visibility, &c.OwnerGroup}, more...)...)
	if err != nil {
		return c, err
	}
	c.CreatedAt, c.ExpiresAt, c.DeletedAt = fromMicros(created), fromMicros(expires), fromMicros(deleted)
	return c, json.Unmarshal(services, &c.Services)
}

// NextClusterNumber implements app.ClusterStore.
func (s *Store) NextClusterNumber(ctx context.Context) (n int64, err error) {
	err = s.write(ctx, func(t *tx) error {
		return t.row(`INSERT INTO counters (name, value) VALUES ('cluster', 1)
			ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value`).Scan(&n)
	})
	return n, err
}

// CreateCluster implements app.ClusterStore.
func (s *Store) CreateCluster(ctx context.Context, n app.NewCluster) (op app.Operation, err error) {
	err = s.write(ctx, func(t *tx) error {
		if op, err = s.createCluster(t, n); err != nil || n.Request == nil {
			return err
		}
		n.Request.Request, err = keepRequest(t, *n.Request)
		return err
	})
	return op, err
}

// createCluster writes a cluster with all that comes with it, in the transaction that accepts it.
func (s *Store) createCluster(t *tx, n app.NewCluster) (op app.Operation, err error) {
	c := n.Cluster
	if err := tenantOpen(t, c.Tenant); err != nil {
		return op, err
	}
	if err := sameProvider(t, c.Tenant, c.Provider, n.OwnCatalog); err != nil {
		return op, err
	}
	definition, err := json.Marshal(n.Definition)
	if err != nil {
		return op, fmt.Errorf("store: definition: %w", err)
	}
	// People call clusters by name or id: what the one means may not be the other of another cluster.
	var confused bool
	if err := t.row(`SELECT EXISTS (SELECT 1 FROM clusters WHERE deleted_at = 0 AND tenant = ? AND (id = ? OR name = ?))`,
		c.Tenant, c.Name, c.ID).Scan(&confused); err != nil {
		return op, err
	}
	if confused {
		return op, &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("The name %q is too much like that of another cluster.", c.Name),
			Hint: "People call clusters by name or by id. Choose another name, or ask again."}
	}
	if c.Visibility == "" {
		if c.Visibility, err = visibilityOf(t.row(defaultVisibility, c.Tenant)); err != nil {
			return op, err
		}
	}
	if err := promise(t, c.CreatedAt, c, n.Nodes, n.Definition); err != nil {
		return op, err
	}
	// Before anything else is written, so that a refusal has little to undo.
	if err := reserve(t, c.CreatedAt, reservationOf(n)); err != nil {
		return op, err
	}
	changed, err := t.count(`INSERT INTO clusters (id, tenant, number, name, owner, template, provider, size, services, status,
			message, cost_per_hour, dns_suffix, definition, sealed_definition, ssh_public_key, ssh_key, created_at, expires_at, deleted_at, pool, visibility, owner_group)
		VALUES (?, ?, (SELECT coalesce(max(number), 0) + 1 FROM clusters), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, 0, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		c.ID, c.Tenant, c.Name, c.Owner, c.Template, c.Provider, c.Size, jsonText(c.Services), c.Status,
		c.Message, c.CostPerHour, c.DNSSuffix, s.sealDefinition(definition, c.ID), n.PublicKey, s.seal(n.PrivateKey, "clusters/"+c.ID),
		micros(c.CreatedAt), micros(c.ExpiresAt), c.Pool, c.Visibility, c.OwnerGroup)
	if err != nil {
		return op, err
	}
	if changed == 0 {
		return op, &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("There is already a cluster named %q.", c.Name),
			Hint: "Choose another name, or delete that one first."}
	}
	if err := beginLease(t, c.ID, c.CreatedAt, c.ExpiresAt); err != nil {
		return op, err
	}
	if err := s.insertNodes(t, c, n.Nodes, n.Definition.Hardware, c.CreatedAt); err != nil {
		return op, err
	}
	if err := t.event(app.Event{At: c.CreatedAt, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventCluster,
		Status: string(c.Status)}); err != nil {
		return op, err
	}
	if err := keepHealth(t, c.CreatedAt, c, n.Definition.Health); err != nil {
		return op, err
	}
	if err := useResources(t, c.Tenant, c.ID, n.Definition.Services, true); err != nil {
		return op, err
	}
	if err := claimBuild(t, c.CreatedAt, n.Build, app.BuildCreating, c.ID, 0); err != nil {
		return op, err
	}
	return s.submit(t, n.Operation)
}

// reservationOf gives what a new cluster takes of quotas, also where nobody has worked it out.
func reservationOf(n app.NewCluster) app.Reservation {
	if n.Reservation.Tenant != "" {
		return n.Reservation
	}
	return app.ReservationOf(n.Cluster, n.Nodes, n.Definition.Hardware, nil)
}

// insertNodes writes nodes with the intents of their machines.
func (s *Store) insertNodes(t *tx, c app.Cluster, nodes []app.NewNode, hardware map[string]app.Flavor, at time.Time) error {
	err := t.execSet(len(nodes), `INSERT INTO nodes (cluster, name, number, tenant, hostname, hardware, image, zone, services, status, machine_id,
			addresses, ssh_user, ssh_port, host_key, own_root, secret, cpu) VALUES `,
		`(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '{}', ?, 0, '', 0, ?, ?)`, ``, func(args []any, i int) []any {
			n := nodes[i].Node
			return append(args, c.ID, n.Name, app.NodeNumber(n.Name), c.Tenant, n.Hostname, n.Hardware, n.Image, n.Zone, jsonText(n.Services),
				string(n.Status), n.SSHUser, s.seal(nodes[i].HostKey, "nodes/"+c.ID+"/"+n.Name), hardware[n.Hardware].CPU)
		})
	if err != nil {
		return err
	}
	return t.execSet(len(nodes), `INSERT INTO intents (id, tenant, cluster, node, provider, machine_id, created_at, ended_at, asked) VALUES `,
		`(?, ?, ?, ?, ?, '', ?, 0, 0)`, ``, func(args []any, i int) []any {
			return append(args, nodes[i].Intent, c.Tenant, c.ID, nodes[i].Node.Name, c.Provider, micros(at))
		})
}

// Cluster implements app.ClusterStore.
func (s *Store) Cluster(ctx context.Context, tenant, id string) (app.Cluster, error) {
	c, err := scanCluster(s.reads.QueryRowContext(ctx,
		`SELECT `+clusterColumns+` FROM clusters c WHERE c.tenant = ? AND c.id = ?`, tenant, id))
	return c, clusterError(err, id)
}

// View implements app.ClusterStore.
func (s *Store) View(ctx context.Context, tenant, id string) (app.ClusterView, error) {
	moment, err := s.reads.moment(ctx)
	if err != nil {
		return app.ClusterView{}, err
	}
	defer func() { _ = moment.Rollback() }()
	v := app.ClusterView{Links: []app.Link{}}
	v.Cluster, err = scanCluster(moment.QueryRowContext(ctx, `SELECT `+clusterColumns+` FROM clusters c WHERE c.tenant = ? AND c.id = ?`, tenant, id))
	if err := clusterError(err, id); err != nil {
		return app.ClusterView{}, err
	}
	if v.Nodes, err = nodes(ctx, moment, tenant, id); err != nil {
		return app.ClusterView{}, err
	}
	v.Operations, err = operations(ctx, moment, tenant, id)
	return v, err
}

func clusterError(err error, id string) error {
	if isNoRows(err) {
		return app.Errorf(app.ENotFound, "There is no cluster %q.", id)
	}
	if err != nil {
		return fmt.Errorf("store: cluster %s: %w", id, err)
	}
	return nil
}

// operationOfCluster is the operation at work on a cluster, or else the latest.
const operationOfCluster = `(SELECT id FROM operations WHERE cluster = c.id ORDER BY
			CASE WHEN status IN ('running', 'paused', 'cancelling') THEN 0 ELSE 1 END, id DESC LIMIT 1)`

// Clusters implements app.ClusterStore.
func (s *Store) Clusters(ctx context.Context, tenant string, f app.ClusterFilter) ([]app.ClusterSummary, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = 200
	}
	where, args := clustersWhere(tenant, f)
	order, ok := clusterOrders[f.Sort]
	if !ok {
		return nil, app.Errorf(app.EInvalid, "Clusters cannot be sorted by %q.", f.Sort)
	}
	if f.After != "" {
		var key any
		var number int64
		may, mine := readable(f.Reader)
		err := s.reads.QueryRowContext(ctx, `SELECT `+order.key+`, c.number FROM clusters c WHERE c.tenant = ? AND c.id = ?`+may, append([]any{tenant, f.After}, mine...)...).
			Scan(&key, &number)
		if err := clusterError(err, f.After); err != nil {
			return nil, err
		}
		if b, is := key.([]byte); is {
			key = string(b)
		}
		where += ` AND (` + order.key + order.beyond + `? OR ` + order.key + ` = ? AND c.number < ?)`
		args = append(args, key, key, number)
	}
	list := []app.ClusterSummary{}
	shared, of := sharedWith(f.Reader)
	// Which they are is found in the index clusters_listed alone; only those are fetched.
	err := s.each(ctx, func(row scanner) error {
		var o operationRow
		var access app.Access
		var free bool
		c, err := scanCluster(row, append(o.dest(), &access, &free)...)
		if err != nil {
			return err
		}
		if free {
			c.CostPerHour = 0
		}
		c.Access = accessOf(f.Reader, c, access)
		op := o.operation()
		list = append(list, app.ClusterSummary{Cluster: c, Operation: &op})
		return nil
	}, `SELECT `+clusterColumns+`, `+operationColumns+`, `+shared+`, `+costsNothing+`
		FROM (SELECT c.id FROM clusters c WHERE `+where+` ORDER BY `+order.by+` LIMIT ?) p
		JOIN clusters c ON c.id = p.id JOIN operations o ON o.id = `+operationOfCluster+` ORDER BY `+order.by, append(append(of, args...), min(limit, 1001))...)
	return list, err
}

// Definition implements app.ClusterStore.
func (s *Store) Definition(ctx context.Context, tenant, cluster string) (d app.Definition, err error) {
	var sealed []byte
	err = s.reads.QueryRowContext(ctx, `SELECT sealed_definition FROM clusters WHERE tenant = ? AND id = ?`, tenant, cluster).Scan(&sealed)
	if err = clusterError(err, cluster); err != nil {
		return d, err
	}
	return d, s.openJSON(sealed, definitionPlace(cluster), &d)
}

// ClusterSecrets implements app.ClusterStore.
func (s *Store) ClusterSecrets(ctx context.Context, tenant, cluster string) (k app.ClusterSecrets, err error) {
	var sealed []byte
	err = s.reads.QueryRowContext(ctx, `SELECT ssh_public_key, ssh_key FROM clusters WHERE tenant = ? AND id = ?`, tenant, cluster).
		Scan(&k.PublicKey, &sealed)
	if err = clusterError(err, cluster); err != nil {
		return k, err
	}
	k.PrivateKey, err = s.open(sealed, "clusters/"+cluster)
	return k, err
}

// ExpiredClusters implements app.ClusterStore.
func (s *Store) ExpiredClusters(ctx context.Context, now time.Time, limit int) ([]app.Cluster, error) {
	return s.clusters(ctx, `SELECT `+clusterColumns+` FROM clusters c WHERE c.deleted_at = 0 AND c.expires_at > 0 AND c.expires_at <= ?
		AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.cluster = c.id AND o.kind = 'delete'
			AND (o.status IN ('waiting', 'running', 'paused', 'cancelling') OR o.status = 'failed' AND o.followed_by = 0)) LIMIT ?`, micros(now), limit)
}

func (s *Store) clusters(ctx context.Context, query string, args ...any) (list []app.Cluster, err error) {
	err = s.each(ctx, func(row scanner) error {
		c, err := scanCluster(row)
		list = append(list, c)
		return err
	}, query, args...)
	return list, err
}

// MarkLost implements app.ClusterStore.
func (s *Store) MarkLost(ctx context.Context, tenant, cluster, message string) error {
	return s.write(ctx, func(t *tx) error {
		if err := poolMachineLost(t, cluster, message); err != nil {
			return err
		}
		n, err := t.count(`UPDATE clusters SET status = 'failed', message = ?, lost_at = CASE WHEN status = 'active' THEN ? ELSE lost_at END
			WHERE tenant = ? AND id = ? AND (status = 'active' OR status = 'failed' AND lost_at > 0 AND message <> ?)`,
			message, micros(time.Now()), tenant, cluster, message)
		if err != nil {
			return err
		}
		var name, owner string
		var status app.ClusterStatus
		var pool int64
		err = t.row(`SELECT name, owner, status, pool FROM clusters WHERE tenant = ? AND id = ?`, tenant, cluster).Scan(&name, &owner, &status, &pool)
		if isNoRows(err) || err == nil && n == 0 && status != app.ClusterAsleep {
			return nil
		}
		if err != nil {
			return wrapped(err)
		}
		if n > 0 {
			if err := checkSoon(t, tenant, cluster, time.Now()); err != nil { // repair by itself begins with what a round finds
				return err
			}
		}
		if pool == 0 { // those of pools are told of by their pool
			if err := t.notice(app.Notice{At: time.Now(), Tenant: tenant, Kind: app.NoticeLost, Cluster: cluster, Users: []string{owner}, Path: "/clusters/" + cluster,
				Title: name + " lost machines.", Text: message}); err != nil {
				return err
			}
		}
		return t.event(app.Event{At: time.Now(), Tenant: tenant, Cluster: cluster, Kind: app.EventCluster,
			Status: string(status), Message: message})
	})
}

// setCluster changes a cluster's status and tells those who watch. One that is gone stays gone, whatever waited behind what
// ended it.
func setCluster(t *tx, at time.Time, tenant, id string, status app.ClusterStatus, message string) error {
	var pool int64
	err := t.row(`UPDATE clusters SET status = ?, message = ? WHERE tenant = ? AND id = ? AND (deleted_at = 0 OR ? = 'deleted') RETURNING pool`,
		status, message, tenant, id, status).Scan(&pool)
	if isNoRows(err) {
		return nil
	}
	if err == nil && pool > 0 {
		err = poolMachineMoved(t, at, pool, id, status, message)
	}
	if err == nil {
		err = wakeBuilds(t, at, `cluster = ? AND cluster <> '' AND live = 1`, id)
	}
	if err != nil {
		return wrapped(err)
	}
	return t.event(app.Event{At: at, Tenant: tenant, Cluster: id, Kind: app.EventCluster, Status: string(status), Message: message})
}

// jsonText writes a plain value; it cannot fail for the types that we keep.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error())
	}
	return string(b)
}
