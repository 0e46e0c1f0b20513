package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/policy"
	"muster/app/sharing"
	"muster/app/store/db"
	"muster/app/store/identity"
	"muster/app/template"
)

// Readable is the end of a clause that lets through those of the clusters c that a reader may see; nil is everyone. ClusterReader.AccessTo says the
// same of one cluster.
func Readable(r *app.ClusterReader) (clause string, args []any) {
	if r == nil || r.SeesAll {
		return "", nil
	}
	owns, groups := among(`c.owner_group`, r.Groups)
	open, ids := among(`c.id`, r.Clusters)
	// Found once for the whole list, and not for each of its clusters.
	in, of := among(`s.in_group`, r.Groups)
	shared := `SELECT s.cluster FROM cluster_shares s WHERE s.tenant = ? AND (s.person = ? OR ` + in + `) AND ` + counts
	return ` AND c.pool = 0 AND (c.visibility = 'tenant' OR c.owner = ? OR ` + owns + ` OR ` + open + ` OR c.id IN (` + shared + `))`,
		slices.Concat([]any{r.User}, groups, ids, []any{r.Tenant, r.User}, of, []any{looksAt(r)})
}

// counts is the clause for shares s that haven't ended. The plus keeps SQLite from comparing each new time with the partial index
// cluster_shares_until, for which it would plan the query again.
const counts = `(s.until = 0 OR +s.until > ?)`

// looksAt is the time for counts. A reader who doesn't say when they look has only the shares that never end.
func looksAt(r *app.ClusterReader) int64 {
	if r.Now.IsZero() {
		return math.MaxInt64
	}
	return db.Micros(r.Now)
}

// isShared is the clause for shares s of the cluster c with a reader.
func isShared(r *app.ClusterReader) (clause string, args []any) {
	in, groups := among(`s.in_group`, r.Groups)
	return `s.cluster = c.id AND (s.person = ? OR ` + in + `) AND ` + counts, slices.Concat([]any{r.User}, groups, []any{looksAt(r)})
}

// SharedWith is the column for the most access to the cluster c that was shared with a reader; accessOf makes of it what the reader may do.
func SharedWith(r *app.ClusterReader) (column string, args []any) {
	if r == nil {
		return `0`, nil
	}
	shared, args := isShared(r)
	return `coalesce((SELECT max(s.access) FROM cluster_shares s WHERE ` + shared + `), 0)`, args
}

// sharedUntil is the column for when that access ends: 0 for never, and where nothing was shared.
func sharedUntil(r *app.ClusterReader) (column string, args []any) {
	shared, args := isShared(r)
	return `coalesce((SELECT s.until FROM cluster_shares s WHERE ` + shared + `
		ORDER BY s.access DESC, CASE WHEN s.until = 0 THEN 0 ELSE 1 END, s.until DESC LIMIT 1), 0)`, args
}

// AccessOf is what a reader may do with a cluster; shared is what was shared with them.
func AccessOf(r *app.ClusterReader, c app.Cluster, shared app.Access) app.Access {
	if r == nil {
		return app.AccessNone
	}
	return r.AccessTo(c, shared)
}

// among is the clause for a column that has one of some values.
func among[T any](column string, values []T) (clause string, args []any) {
	if len(values) == 0 {
		return `1 = 0`, nil
	}
	for _, v := range values {
		args = append(args, v)
	}
	return column + ` IN (` + db.Placeholders(len(values)) + `)`, args
}

// ReadableRequest is readable for the requests r.
func ReadableRequest(r *app.ClusterReader) (clause string, args []any) {
	if r == nil || r.SeesAll {
		return "", nil
	}
	open, ids := among(`r.id`, r.Requests)
	cluster, of := Readable(r)
	return ` AND (r.requester = ? OR r.owner = ? OR ` + open + ` OR EXISTS (SELECT 1 FROM reviews v WHERE v.request = r.id AND v.who = ?)
		OR r.cluster <> '' AND EXISTS (SELECT 1 FROM clusters c WHERE c.id = r.cluster AND c.tenant = r.tenant` + cluster + `))`,
		slices.Concat([]any{r.User, r.User}, ids, []any{r.User}, of)
}

// ReadableBuild is readable for the builds b with their hooks h.
func ReadableBuild(r *app.ClusterReader) (clause string, args []any) {
	if r == nil || r.SeesAll {
		return "", nil
	}
	cluster, of := Readable(r)
	return ` AND (h.owner = ? OR b.cluster <> '' AND EXISTS (SELECT 1 FROM clusters c WHERE c.id = b.cluster AND c.tenant = b.tenant` + cluster + `))`, append([]any{r.User}, of...)
}

func (s *Store) ReadableCluster(ctx context.Context, r app.ClusterReader, id string) (app.Cluster, error) {
	may, mine := Readable(&r)
	shared, of := SharedWith(&r)
	until, at := sharedUntil(&r)
	var access app.Access
	var ends int64
	c, err := Scan(s.Row(ctx, `SELECT `+Columns+`, `+shared+`, `+until+` FROM clusters c
		WHERE c.tenant = ? AND (c.id = ? OR c.name = ? AND c.deleted_at = 0 AND c.pool = 0)`+may+` ORDER BY CASE WHEN c.id = ? THEN 0 ELSE 1 END LIMIT 1`,
		slices.Concat(of, at, []any{r.Tenant, id, id}, mine, []any{id})...), &access, &ends)
	c.Access = AccessOf(&r, c, access)
	if !r.SeesAll && c.Access > AccessOf(&r, c, app.AccessNone) {
		c.AccessUntil = db.FromMicros(ends)
	}
	return c, ReadError(err, id)
}

// maxOpenFor is how many open requests, and how many open questions, of a tenant are looked at for one reader.
const maxOpenFor = 1000

// OpenFor implements cluster.FinderStore. Which they are is up to JSON that only Go reads; LIKE leaves few of them.
func (s *Store) OpenFor(ctx context.Context, r app.ClusterReader) (clusters []string, requests []int64, err error) {
	groups := make([]any, len(r.Groups))
	for i, g := range r.Groups {
		groups[i] = db.Listed(g)
	}
	known := map[string]bool{} // many requests need the same
	err = s.Each(ctx, func(row db.Scanner) error {
		var id int64
		var cluster, text string
		if err := row.Scan(&id, &cluster, &text); err != nil {
			return err
		}
		decides, is := known[text]
		if !is {
			var needs []policy.RequiredApproval
			if err := json.Unmarshal([]byte(text), &needs); err != nil {
				return fmt.Errorf("request %d: %w", id, err)
			}
			decides = policy.Decides(r, needs)
			known[text] = decides
		}
		if decides {
			requests = append(requests, id)
			if cluster != "" {
				clusters = append(clusters, cluster)
			}
		}
		return nil
	}, `SELECT r.id, r.cluster, r.needs FROM requests r WHERE r.tenant = ? AND r.status IN ('waiting', 'offered')
		AND (r.needs LIKE '%"role":%'`+strings.Repeat(` OR r.needs LIKE ? ESCAPE '!'`, len(groups))+`) ORDER BY r.id LIMIT ?`,
		slices.Concat([]any{r.Tenant}, groups, []any{maxOpenFor})...)
	if err != nil || len(groups) == 0 {
		return clusters, requests, err
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var cluster string
		var text []byte
		var p template.Person
		if err := row.Scan(&cluster, &text); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &p); err != nil {
			return fmt.Errorf("question of cluster %s: %w", cluster, err)
		}
		if p.IsFor(r) && !slices.Contains(clusters, cluster) {
			clusters = append(clusters, cluster)
		}
		return nil
	}, `SELECT q.cluster, q.person FROM manual_steps q WHERE q.tenant = ? AND q.state = 'open'
		AND (1 = 0`+strings.Repeat(` OR q.person LIKE ? ESCAPE '!'`, len(groups))+`) ORDER BY q.id LIMIT ?`,
		slices.Concat([]any{r.Tenant}, groups, []any{maxOpenFor})...)
	return clusters, requests, err
}

func (s *Store) ClusterSharing(ctx context.Context, tenant, cluster string, now time.Time) (sharing.ClusterSharing, error) {
	c, err := s.Cluster(ctx, tenant, cluster)
	if err != nil {
		return sharing.ClusterSharing{}, err
	}
	return sharingOf(func(f func(db.Scanner) error, query string, args ...any) error { return s.Each(ctx, f, query, args...) }, c, now)
}

func sharingOf(each func(func(db.Scanner) error, string, ...any) error, c app.Cluster, now time.Time) (sharing.ClusterSharing, error) {
	list := sharing.ClusterSharing{Cluster: c.ID, Owner: c.Owner, OwnerGroup: c.OwnerGroup, Visibility: c.Visibility, Shares: []sharing.Share{}}
	err := each(func(row db.Scanner) error {
		var one sharing.Share
		var until int64
		err := row.Scan(&one.Person, &one.Group, &one.Access, &until)
		one.Until = db.FromMicros(until)
		list.Shares = append(list.Shares, one)
		return err
	}, `SELECT s.person, s.in_group, s.access, s.until FROM cluster_shares s WHERE s.cluster = ? AND `+counts+`
		ORDER BY s.in_group, s.person`, c.ID, db.Micros(now))
	return list, err
}

func (s *Store) ShareCluster(ctx context.Context, who app.Actor, cluster string, change sharing.SharingChange, most int, at time.Time) (
	after sharing.ClusterSharing, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		c, err := Live(t, who.Tenant, cluster)
		if err != nil {
			return err
		}
		before, err := sharingOf(t.Each, c, at)
		if err != nil {
			return err
		}
		if change.Visibility != "" {
			c.Visibility = change.Visibility
			if err := t.Exec(`UPDATE clusters SET visibility = ? WHERE id = ?`, c.Visibility, c.ID); err != nil {
				return err
			}
		}
		for _, one := range change.Remove {
			if err := t.Exec(`DELETE FROM cluster_shares WHERE cluster = ? AND person = ? AND in_group = ?`, c.ID, one.Person, one.Group); err != nil {
				return err
			}
		}
		for i, one := range change.Add {
			if err := share(t, c, one, who, fmt.Sprintf("add[%d]", i), at); err != nil {
				return err
			}
		}
		if after, err = sharingOf(t.Each, c, at); err != nil || reflect.DeepEqual(before, after) {
			return err
		}
		if len(after.Shares) > most {
			return &app.Error{Code: app.EInvalid, Field: "add", Message: fmt.Sprintf("A cluster can be shared with at most %d users and groups.", most), Hint: "Share the cluster with a group instead."}
		}
		for _, one := range after.Shares {
			if slices.ContainsFunc(before.Shares, func(had sharing.Share) bool { return had.Name() == one.Name() && had.Access >= one.Access }) || one.Person == who.Name() {
				continue
			}
			if err := t.Notice(one.Notice(c, who, at)); err != nil {
				return err
			}
		}
		if err := t.Event(app.Event{At: at, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventCluster, Status: string(c.Status),
			Message: who.Name() + " changed who has access."}); err != nil {
			return err
		}
		return t.AddAudit(at, who, "cluster.share", c.ID, before, after)
	})
	return after, err
}

func share(t *db.Tx, c app.Cluster, one sharing.Share, who app.Actor, field string, at time.Time) error {
	known := func() error { return identity.CheckUser(t, c.Tenant, one.Person, field) }
	if one.Group != "" {
		known = func() error { return knownGroup(t, c.Tenant, one.Group, field) }
	}
	if err := known(); err != nil {
		return err
	}
	return t.Exec(`INSERT INTO cluster_shares (cluster, person, in_group, tenant, access, shared_by, shared_at, until) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (cluster, person, in_group) DO UPDATE SET access = excluded.access, shared_by = excluded.shared_by, shared_at = excluded.shared_at,
			until = excluded.until`,
		c.ID, one.Person, one.Group, c.Tenant, int(one.Access), who.Name(), db.Micros(at), db.Micros(one.Until))
}

// knownGroup refuses the name of a group that the tenant does not have, and that no identity provider named.
func knownGroup(t *db.Tx, tenant, group, field string) error {
	var is bool
	err := t.Row(`SELECT EXISTS (SELECT 1 FROM user_groups WHERE tenant = ? AND name = ?) OR EXISTS (SELECT 1 FROM memberships WHERE tenant = ? AND group_name = ?)`,
		tenant, group, tenant, group).Scan(&is)
	if err == nil && !is {
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf("Group %q doesn't exist.", group), Hint: "Check the spelling of the name."}
	}
	return err
}

func (s *Store) DefaultVisibility(ctx context.Context, tenant string) (app.Visibility, error) {
	return VisibilityOf(s.Row(ctx, DefaultVisibility, tenant))
}

// DefaultVisibility asks for the visibility of a tenant's new clusters.
const DefaultVisibility = `SELECT cluster_visibility FROM tenants WHERE name = ?`

// VisibilityOf reads a row of defaultVisibility. Only tests have tenants without a row.
func VisibilityOf(row db.Scanner) (v app.Visibility, err error) {
	if err = row.Scan(&v); db.IsNoRows(err) {
		return app.VisiblePrivate, nil
	}
	return v, err
}

func (s *Store) SetDefaultVisibility(ctx context.Context, who app.Actor, v app.Visibility, at time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		before, err := VisibilityOf(t.Row(DefaultVisibility, who.Tenant))
		if err != nil || before == v {
			return err
		}
		if err := t.Exec(`UPDATE tenants SET cluster_visibility = ? WHERE name = ?`, v, who.Tenant); err != nil {
			return err
		}
		return t.AddAudit(at, who, "tenant.visibility", who.Tenant, before, v)
	})
}
