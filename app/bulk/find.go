package bulk

import (
	"context"
	"slices"

	"muster/app"
	"muster/app/cluster"
)

// finding is the cluster of a target, or why there is none.
type finding struct {
	cluster app.ClusterSummary
	err     error
}

// find finds the clusters by ID, in one query, and those that are left by name.
func (s *Service) find(ctx context.Context, actor app.Actor, targets []Target) ([]finding, error) {
	var ids []string
	for _, t := range targets {
		ids = append(ids, t.ID)
	}
	slices.Sort(ids)
	page, err := s.Clusters.ClusterPage(ctx, actor, app.ClusterFilter{IDs: slices.Compact(ids), Deleted: true, Limit: Most})
	if err != nil {
		return nil, err
	}
	byID := map[string]app.ClusterSummary{}
	for _, c := range page.Clusters {
		byID[c.ID] = c
	}
	list := make([]finding, len(targets))
	for i, t := range targets {
		c, found := byID[t.ID]
		if !found {
			list[i] = s.named(ctx, actor, t.ID)
			continue
		}
		list[i].cluster = c
	}
	return list, nil
}

// named finds a live cluster by name.
func (s *Service) named(ctx context.Context, actor app.Actor, name string) finding {
	page, err := s.Clusters.ClusterPage(ctx, actor, app.ClusterFilter{Name: name, Limit: 2})
	switch {
	case err != nil:
		return finding{err: err}
	case len(page.Clusters) == 0:
		return finding{err: app.Errorf(app.ENotFound, "Cluster %q doesn't exist.", name)}
	case len(page.Clusters) > 1:
		return finding{err: &app.Error{Code: app.EConflict, Message: "Several clusters have this name.", Hint: "Use their IDs."}}
	}
	return finding{cluster: page.Clusters[0]}
}

// open returns the actor's open requests for the same action, so that none is made twice.
func (s *Service) open(ctx context.Context, actor app.Actor, action Action) (list []cluster.Request, err error) {
	if action != Sleep && action != Wake {
		return nil, nil
	}
	all, err := s.Requests.Requests(ctx, actor, cluster.RequestFilter{View: cluster.RequestsMine, Open: true, Limit: mostAsk})
	for _, q := range all {
		if q.Kind == action.kind() && q.Status.Open() {
			list = append(list, q)
		}
	}
	return list, err
}

// matching returns the request for a cluster, of the plan if one was shown.
func matching(open []cluster.Request, id, planHash string) *cluster.Request {
	for i, q := range open {
		if q.Cluster == id && (planHash == "" || q.Terms.PlanHash == planHash) {
			return &open[i]
		}
	}
	return nil
}
