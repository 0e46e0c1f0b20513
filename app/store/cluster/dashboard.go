package cluster

import (
	"context"
	"slices"
	"strings"

	"muster/app"
	"muster/app/dashboard"
	"muster/app/store/db"
	"muster/app/store/feed"
)

// ofOwner finds the live clusters of an owner; it is written as the indexes clusters_of_owner and leases_of_owner have it.
const ofOwner = `c.tenant = ? AND c.owner = ? AND c.deleted_at = 0 AND c.pool = 0`

// standing counts them by status, from the index alone.
const standing = `SELECT c.status, count(*), sum(c.cost_per_hour) FROM clusters c WHERE ` + ofOwner + ` GROUP BY c.status`

// standingFree is what they would cost that cost nothing.
const standingFree = `SELECT coalesce(sum(c.cost_per_hour), 0.0) FROM clusters c WHERE ` + ofOwner + ` AND ` + costsNothing

// newestOfOwner are those of a status, with the operation that counts.
const newestOfOwner = `SELECT ` + Columns + `, ` + OperationColumns + `, ` + costsNothing + ` FROM clusters c
	JOIN operations o ON o.id = ` + operationOfCluster + `
	WHERE ` + ofOwner + ` AND c.status = ? ORDER BY c.number DESC LIMIT ?`

// leasesOfOwner are those whose lease ends by a moment.
const leasesOfOwner = `SELECT ` + Columns + ` FROM clusters c
	WHERE ` + ofOwner + ` AND c.expires_at > 0 AND c.expires_at <= ? ORDER BY c.expires_at LIMIT ?`

// firstOfOwner are the statuses in the order in which people look at them first.
var firstOfOwner = []app.ClusterStatus{app.ClusterFailed, app.ClusterPending, app.ClusterActive, app.ClusterAsleep}

func (s *Store) Home(ctx context.Context, q dashboard.Query) (dashboard.Data, error) {
	h := dashboard.Data{Standing: map[app.ClusterStatus]int{}, Clusters: []app.ClusterSummary{}, Ending: []app.Cluster{}, Notices: []app.Notice{}}
	moment, err := s.Moment(ctx)
	if err != nil {
		return h, err
	}
	defer func() { _ = moment.Rollback() }()
	err = db.Each(ctx, moment, func(row db.Scanner) error {
		var status app.ClusterStatus
		var n int
		var cost float64
		err := row.Scan(&status, &n, &cost)
		h.Standing[status], h.CostPerHour = n, h.CostPerHour+cost
		return err
	}, standing, q.Tenant, q.Owner)
	if err == nil && h.Standing[app.ClusterFailed] > 0 {
		var nothing float64
		err = moment.QueryRowContext(ctx, standingFree, q.Tenant, q.Owner).Scan(&nothing)
		h.CostPerHour = db.Rounded(h.CostPerHour - nothing)
	}
	if err != nil {
		return h, err
	}
	for _, status := range firstOfOwner {
		left := q.Clusters - len(h.Clusters)
		if h.Standing[status] == 0 || left <= 0 {
			continue
		}
		err := db.Each(ctx, moment, func(row db.Scanner) error {
			var o OperationRow
			var free bool
			c, err := Scan(row, append(o.Dest(), &free)...)
			if err != nil {
				return err
			}
			if free {
				c.CostPerHour = 0
			}
			op := o.Operation()
			h.Clusters = append(h.Clusters, app.ClusterSummary{Cluster: c, Operation: &op})
			return nil
		}, newestOfOwner, q.Tenant, q.Owner, string(status), left)
		if err != nil {
			return h, err
		}
	}
	if len(h.Standing) > 0 {
		err = db.Each(ctx, moment, func(row db.Scanner) error {
			c, err := Scan(row)
			h.Ending = append(h.Ending, c)
			return err
		}, leasesOfOwner, q.Tenant, q.Owner, db.Micros(q.EndsBy), q.Leases)
	}
	if err == nil {
		h.Notices, err = newestNotices(ctx, moment, q)
	}
	return h, err
}

// newestNotices looks only at the tenant's newest, so that it costs the same in a tenant with many notices.
func newestNotices(ctx context.Context, r db.Reader, q dashboard.Query) ([]app.Notice, error) {
	groups := q.Reader.Groups[:min(len(q.Reader.Groups), feed.MaxReaderGroups)]
	args := []any{q.Tenant, q.AmongNotices, db.Listed(q.Reader.User)}
	for _, g := range groups {
		args = append(args, db.Listed(g))
	}
	list := []app.Notice{}
	err := db.Each(ctx, r, func(row db.Scanner) error {
		var n feed.NoticeRow
		if err := row.Scan(n.Dest()...); err != nil {
			return err
		}
		one, err := n.Value()
		if err == nil && len(list) < q.Notices && (slices.Contains(one.Users, q.Reader.User) ||
			slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(one.Groups, g) })) {
			list = append(list, one)
		}
		return err
	}, `SELECT `+feed.NoticeColumns+` FROM (SELECT * FROM notifications WHERE tenant = ? ORDER BY id DESC LIMIT ?) n
		WHERE n.users LIKE ? ESCAPE '!'`+strings.Repeat(` OR n.in_groups LIKE ? ESCAPE '!'`, len(groups))+` ORDER BY n.id DESC LIMIT ?`,
		append(args, 4*q.Notices)...)
	return list, err
}
