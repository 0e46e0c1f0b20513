package jobs

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
)

// surveyEvery is how often accounts are compared with the ledger. The first time is at start.
const surveyEvery = 10 * time.Minute

// Survey compares each account with the ledger, both ways: clusters whose machines are gone are marked as failed, so
// that people see it and the lease still ends them; machines of ours that no live intent stands for are reported. It
// deletes nothing.
type Survey struct {
	Installation string
	Clusters     app.ClusterStore
	Providers    Providers
	Catalog      func() *app.Catalog
	Log          *slog.Logger
}

// Run surveys at once and then from time to time, until ctx ends.
func (s *Survey) Run(ctx context.Context) {
	var trouble quietly
	for {
		trouble.say(s.Log, "the survey of accounts", s.once(ctx))
		if pause(ctx, surveyEvery) != nil {
			return
		}
	}
}

func (s *Survey) once(ctx context.Context) error {
	active, err := s.Clusters.ActiveClusters(ctx)
	if err != nil {
		return err
	}
	used := map[string][]app.Cluster{}
	for _, c := range active {
		used[c.Provider] = append(used[c.Provider], c)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if err := s.account(ctx, name, used[name]); err != nil {
			return err
		}
	}
	return nil
}

// account compares one account. Clusters are read before machines, so a machine made in between is not missed.
func (s *Survey) account(ctx context.Context, name string, clusters []app.Cluster) error {
	spec := s.Catalog().Providers[name]
	if spec == nil {
		return app.Errorf(app.EInvalid, "provider %s is not in the catalog any more, but clusters use it", name)
	}
	p, err := s.Providers.Provider(ctx, *spec)
	if err != nil {
		return err
	}
	machines, err := p.List(ctx, map[string]string{app.TagInstallation: s.Installation})
	if err != nil {
		return err
	}
	running := map[string]bool{}
	for _, m := range machines {
		running[m.ID] = m.State != app.MachineStopped
	}
	for _, c := range clusters {
		if err := s.cluster(ctx, c, running); err != nil {
			return err
		}
	}
	live, err := s.Clusters.LiveIntents(ctx, name)
	if err != nil {
		return err
	}
	for _, m := range machines {
		if !live[m.Tags[app.TagIntent]] {
			s.Log.Warn("orphan: a machine of ours that no cluster wants", "provider", name, "machine", m.ID, "cluster", m.Tags[app.TagCluster])
		}
	}
	return nil
}

// cluster marks a cluster whose machines do not all run.
func (s *Survey) cluster(ctx context.Context, c app.Cluster, running map[string]bool) error {
	nodes, err := s.Clusters.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return err
	}
	var lost []string
	for _, n := range nodes {
		if n.Status == app.NodeReady && !running[n.MachineID] {
			lost = append(lost, n.Name)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	const most = 10
	text := strings.Join(lost[:min(len(lost), most)], ", ")
	if len(lost) > most {
		text += ", …"
	}
	s.Log.Warn("machines are lost", "cluster", c.ID, "nodes", text)
	return s.Clusters.MarkLost(ctx, c.Tenant, c.ID, "Lost machines: "+text+". Delete the cluster to clean up what is left of it.")
}
