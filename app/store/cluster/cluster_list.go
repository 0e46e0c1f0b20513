package cluster

import (
	"context"
	"strings"

	"muster/app"
	"muster/app/store/db"
)

// clustersWhere says which clusters a filter lets through. All that it names, and all orders, stand in the index clusters_listed, but
// for labels, which have an index of their own, and for shares, requests and questions, which are few.
func clustersWhere(tenant string, f app.ClusterFilter) (where string, args []any) {
	where, args = "c.tenant = ? AND c.pool = 0", []any{tenant}
	and := func(clause string, more ...any) { where, args = where+" AND "+clause, append(args, more...) }
	switch {
	case f.Status == app.ClusterDeleted:
		and("c.deleted_at > 0")
	case !f.Deleted:
		and("c.deleted_at = 0")
	}
	for _, exact := range [][2]string{{"c.name", f.Name}, {"c.owner", f.Owner}, {"c.status", string(f.Status)}, {"c.template", f.Template}, {"c.provider", f.Provider}} {
		if exact[1] != "" {
			and(exact[0]+" = ?", exact[1])
		}
	}
	if f.Text != "" {
		like := containing(f.Text)
		and("(lower(c.name) LIKE ? ESCAPE '!' OR lower(c.id) LIKE ? ESCAPE '!' OR lower(c.owner) LIKE ? ESCAPE '!' OR lower(c.template) LIKE ? ESCAPE '!'"+
			" OR c.id IN (SELECT l.cluster FROM cluster_labels l WHERE l.tenant = ? AND lower(l.value) LIKE ? ESCAPE '!'))", like, like, like, like, tenant, like)
	}
	for _, l := range f.Labels {
		if l.Value == "" {
			and("c.id IN (SELECT l.cluster FROM cluster_labels l WHERE l.tenant = ? AND l.key = ?)", tenant, l.Key)
		} else {
			and("c.id IN (SELECT l.cluster FROM cluster_labels l WHERE l.tenant = ? AND l.key = ? AND l.value = ?)", tenant, l.Key, l.Value)
		}
	}
	if f.IDs != nil {
		ids := make([]any, len(f.IDs))
		for i, id := range f.IDs {
			ids[i] = id
		}
		and("c.id IN (''"+strings.Repeat(", ?", len(ids))+")", ids...)
	}
	may, mine := Readable(f.Reader)
	where, args = where+may, append(args, mine...)
	return where, args
}

// costsNothing holds for clusters that failed and have no machine: what they would cost is no price of theirs.
const costsNothing = `c.status = 'failed' AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.cluster = c.id AND n.machine_id <> '' AND n.status <> 'deleted')`

// clusterOrders are the orders of lists: by what, how a key lies beyond another one, and the whole.
var clusterOrders = map[app.ClusterSort]struct{ key, beyond, by string }{
	app.SortNewest: {"c.number", " < ", "c.number DESC"},
	app.SortName:   {"c.name", " > ", "c.name, c.number DESC"},
	app.SortCost:   {"c.cost_per_hour", " < ", "c.cost_per_hour DESC, c.number DESC"},
	app.SortLease:  {leaseKey, " > ", leaseKey + ", c.number DESC"},
}

const leaseKey = "CASE WHEN c.expires_at = 0 THEN 9223372036854775807 ELSE c.expires_at END"

func (s *Store) CountClusters(ctx context.Context, tenant string, f app.ClusterFilter) (app.ClusterCounts, error) {
	f.Status = ""
	where, args := clustersWhere(tenant, f)
	c := app.ClusterCounts{By: map[app.ClusterStatus]int{}}
	err := s.Each(ctx, func(row db.Scanner) error {
		var status app.ClusterStatus
		var n int
		var cost float64
		err := row.Scan(&status, &n, &cost)
		if c.By[status] += n; status != app.ClusterDeleted {
			c.CostPerHour += cost
		}
		return err
	}, `SELECT c.status, count(*), sum(c.cost_per_hour) FROM clusters c WHERE `+where+` GROUP BY c.status`, args...)
	if err != nil || c.By[app.ClusterFailed] == 0 {
		return c, err
	}
	var nothing float64
	err = s.Row(ctx, `SELECT coalesce(sum(c.cost_per_hour), 0.0) FROM clusters c WHERE `+where+` AND `+costsNothing, args...).Scan(&nothing)
	c.CostPerHour = db.Rounded(c.CostPerHour - nothing)
	return c, err
}
