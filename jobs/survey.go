package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
)

// surveyEvery is how often accounts are compared with the ledger. The first time is at start.
const surveyEvery = 10 * time.Minute

// Survey compares each account with the ledger, both ways. Clusters whose machines are gone are marked as failed, so that
// people see it and the lease still ends them. A machine of ours whose intent has ended came up after its node had been
// given back (its create was answered late, or it was not listed yet) and is deleted; one whose intent the ledger does
// not know is only reported, since nobody can tell what it is.
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
	for name := range s.Catalog().Providers {
		if _, known := used[name]; !known {
			used[name] = nil // orphans may be where no cluster is
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if err := s.account(ctx, name, used[name]); err != nil {
			errs = append(errs, fmt.Errorf("account %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
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
		if err := s.cluster(ctx, p, c, running); err != nil {
			return err
		}
	}
	live, err := s.Clusters.LiveIntents(ctx, name)
	if err != nil {
		return err
	}
	for _, m := range machines {
		if !live[m.Tags[app.TagIntent]] {
			if err := s.orphan(ctx, name, p, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// orphan deals with a machine that no live intent stands for.
func (s *Survey) orphan(ctx context.Context, name string, p app.Provider, m app.Machine) error {
	ended, err := s.Clusters.IntentEnded(ctx, name, m.Tags[app.TagIntent])
	if err != nil {
		return err
	}
	if !ended {
		s.Log.Warn("orphan: a machine of ours that the ledger does not know", "provider", name, "machine", m.ID, "cluster", m.Tags[app.TagCluster])
		return nil
	}
	s.Log.Warn("a machine came up after its node was given back; it is deleted", "provider", name, "machine", m.ID, "cluster", m.Tags[app.TagCluster])
	return p.Delete(ctx, m.ID)
}

// cluster marks a cluster whose machines do not all run. A list may be late or cut short, so each machine that it lacks
// is asked for by itself first.
func (s *Survey) cluster(ctx context.Context, p app.Provider, c app.Cluster, running map[string]bool) error {
	nodes, err := s.Clusters.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return err
	}
	const most = 10
	var lost []string
	for _, n := range nodes {
		if n.Status != app.NodeReady || running[n.MachineID] || len(lost) > most {
			continue
		}
		m, err := p.Describe(ctx, n.MachineID)
		switch {
		case app.CodeOf(err) == app.ENotFound, err == nil && m.State == app.MachineStopped:
			lost = append(lost, n.Name)
		case err != nil:
			return err
		}
	}
	if len(lost) == 0 {
		return nil
	}
	text := strings.Join(lost[:min(len(lost), most)], ", ")
	if len(lost) > most {
		text += ", …"
	}
	s.Log.Warn("machines are lost", "cluster", c.ID, "nodes", text)
	return s.Clusters.MarkLost(ctx, c.Tenant, c.ID, "Lost machines: "+text+". Delete the cluster to clean up what is left of it.")
}
