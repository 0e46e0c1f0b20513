package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/store/db"
)

// Columns are those of a cluster c, as Scan scans them.
const Columns = `c.id, c.tenant, c.name, c.owner, c.template, c.provider, c.size, c.services, c.status, c.message,
	c.cost_per_hour, c.dns_suffix, c.created_at, c.expires_at, c.deleted_at, c.pool,
	c.visibility, c.owner_group, c.description, c.labels, c.kept_from, c.kept_node, c.kept_reason, ` + lockedColumn

// lockedColumn is a cluster's lock. A kept machine has the same key as the cluster that it was in, so it's locked with that.
const lockedColumn = `CASE WHEN c.kept_from = '' OR c.locked <> '' THEN c.locked
	ELSE coalesce((SELECT k.locked FROM clusters k WHERE k.tenant = c.tenant AND k.id = c.kept_from AND k.deleted_at = 0), '') END`

// Scan reads a row of Columns; more are further columns behind.
func Scan(row db.Scanner, more ...any) (app.Cluster, error) {
	var c app.Cluster
	var services, labels []byte
	var locked string
	var created, expires, deleted int64
	err := row.Scan(append([]any{&c.ID, &c.Tenant, &c.Name, &c.Owner, &c.Template, &c.Provider, &c.Size, &services, &c.Status,
		&c.Message, &c.CostPerHour, &c.DNSSuffix, &created, &expires, &deleted, &c.Pool,
		&c.Visibility, &c.OwnerGroup, &c.Description, &labels, &c.KeptFrom, &c.KeptNode, &c.KeptReason, &locked}, more...)...)
	if err != nil {
		return c, err
	}
	c.CreatedAt, c.ExpiresAt, c.DeletedAt = db.FromMicros(created), db.FromMicros(expires), db.FromMicros(deleted)
	if c.Lock, err = app.KeptLock(locked); err != nil {
		return c, err
	}
	if len(labels) > len(`{}`) { // few have any
		if err := json.Unmarshal(labels, &c.Labels); err != nil {
			return c, err
		}
	}
	return c, json.Unmarshal(services, &c.Services)
}

func (s *Store) NextClusterNumber(ctx context.Context) (n int64, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		return t.Row(`INSERT INTO sequences (name, value) VALUES ('cluster', 1)
			ON CONFLICT (name) DO UPDATE SET value = sequences.value + 1 RETURNING value`).Scan(&n)
	})
	return n, err
}

func (s *Store) Cluster(ctx context.Context, tenant, id string) (app.Cluster, error) {
	c, err := Scan(s.Row(ctx,
		`SELECT `+Columns+` FROM clusters c WHERE c.tenant = ? AND c.id = ?`, tenant, id))
	return c, ReadError(err, id)
}

func (s *Store) View(ctx context.Context, tenant, id string) (appcluster.View, error) {
	moment, err := s.Moment(ctx)
	if err != nil {
		return appcluster.View{}, err
	}
	defer func() { _ = moment.Rollback() }()
	v := appcluster.View{Links: []app.Link{}}
	v.Cluster, err = Scan(moment.QueryRowContext(ctx, `SELECT `+Columns+` FROM clusters c WHERE c.tenant = ? AND c.id = ?`, tenant, id))
	if err := ReadError(err, id); err != nil {
		return appcluster.View{}, err
	}
	if v.Nodes, err = nodes(ctx, moment, tenant, id); err != nil {
		return appcluster.View{}, err
	}
	v.Operations, err = operations(ctx, moment, tenant, id)
	return v, err
}

// ReadError says of what reading a cluster gave whether there is none.
func ReadError(err error, id string) error {
	if db.IsNoRows(err) {
		return app.Errorf(app.ENotFound, "Cluster %q doesn't exist.", id)
	}
	if err != nil {
		return fmt.Errorf("store: cluster %s: %w", id, err)
	}
	return nil
}

// operationOfCluster is the operation at work on a cluster, or else the latest.
const operationOfCluster = `(SELECT id FROM operations WHERE cluster = c.id ORDER BY
			CASE WHEN status IN ('running', 'paused', 'cancelling') THEN 0 ELSE 1 END, id DESC LIMIT 1)`

func (s *Store) Clusters(ctx context.Context, tenant string, f app.ClusterFilter) ([]app.ClusterSummary, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = 200
	}
	where, args := clustersWhere(tenant, f)
	order, ok := clusterOrders[f.Sort]
	if !ok {
		return nil, app.Errorf(app.EInvalid, "Clusters can't be sorted by %q.", f.Sort)
	}
	if f.After != "" {
		var key any
		var number int64
		may, mine := Readable(f.Reader)
		err := s.Row(ctx, `SELECT `+order.key+`, c.number FROM clusters c WHERE c.tenant = ? AND c.id = ?`+may, append([]any{tenant, f.After}, mine...)...).
			Scan(&key, &number)
		if err := ReadError(err, f.After); err != nil {
			return nil, err
		}
		if b, is := key.([]byte); is {
			key = string(b)
		}
		where += ` AND (` + order.key + order.beyond + `? OR ` + order.key + ` = ? AND c.number < ?)`
		args = append(args, key, key, number)
	}
	list := []app.ClusterSummary{}
	shared, of := SharedWith(f.Reader)
	// Which they are is found in the index clusters_listed alone; only those are fetched.
	err := s.Each(ctx, func(row db.Scanner) error {
		var o OperationRow
		var access app.Access
		var free bool
		c, err := Scan(row, append(o.Dest(), &access, &free)...)
		if err != nil {
			return err
		}
		if free {
			c.CostPerHour = 0
		}
		c.Access = AccessOf(f.Reader, c, access)
		op := o.Operation()
		list = append(list, app.ClusterSummary{Cluster: c, Operation: &op})
		return nil
	}, `SELECT `+Columns+`, `+OperationColumns+`, `+shared+`, `+costsNothing+`
		FROM (SELECT c.id FROM clusters c WHERE `+where+` ORDER BY `+order.by+` LIMIT ?) p
		JOIN clusters c ON c.id = p.id JOIN operations o ON o.id = `+operationOfCluster+` ORDER BY `+order.by, append(append(of, args...), min(limit, 1001))...)
	return list, err
}

func (s *Store) Definition(ctx context.Context, tenant, cluster string) (d appcluster.Definition, err error) {
	var sealed []byte
	err = s.Row(ctx, `SELECT encrypted_definition FROM clusters WHERE tenant = ? AND id = ?`, tenant, cluster).Scan(&sealed)
	if err = ReadError(err, cluster); err != nil {
		return d, err
	}
	return d, s.OpenJSON(sealed, db.DefinitionAAD(cluster), &d)
}

func (s *Store) ClusterSecrets(ctx context.Context, tenant, cluster string) (k appcluster.Secrets, err error) {
	var sealed []byte
	err = s.Row(ctx, `SELECT ssh_public_key, ssh_key FROM clusters WHERE tenant = ? AND id = ?`, tenant, cluster).
		Scan(&k.PublicKey, &sealed)
	if err = ReadError(err, cluster); err != nil {
		return k, err
	}
	k.PrivateKey, err = s.Unseal(sealed, "clusters/"+cluster)
	return k, err
}

func (s *Store) ExpiredClusters(ctx context.Context, now time.Time, limit int) ([]app.Cluster, error) {
	return List(ctx, s.DB, `SELECT `+Columns+` FROM clusters c WHERE c.deleted_at = 0 AND c.expires_at > 0 AND c.expires_at <= ?
		AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.cluster = c.id AND o.kind = 'delete'
			AND (o.status IN ('waiting', 'running', 'paused', 'cancelling') OR o.status = 'failed' AND o.followed_by = 0)) LIMIT ?`, db.Micros(now), limit)
}

// List reads the clusters of a query for Columns.
func List(ctx context.Context, d *db.DB, query string, args ...any) (list []app.Cluster, err error) {
	err = d.Each(ctx, func(row db.Scanner) error {
		c, err := Scan(row)
		list = append(list, c)
		return err
	}, query, args...)
	return list, err
}
