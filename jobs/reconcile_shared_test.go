package jobs_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/jobs/reconcile"
)

// sharing is a cloud in which clusters have firewalls.
type sharing struct {
	family.Provider
	mu     sync.Mutex
	things map[string]family.SharedThing
	used   bool // none can be removed
}

func (s *sharing) Shared(_ context.Context, tags map[string]string) (all []family.SharedThing, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.things {
		if of := tags[family.TagCluster]; of == "" || t.Tags[family.TagCluster] == of {
			all = append(all, t)
		}
	}
	return all, nil
}

func (s *sharing) DeleteShared(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used {
		return app.Errorf(app.ETransient, "it is still used")
	}
	delete(s.things, id)
	return nil
}

func (s *sharing) put(e *engine, id, cluster string) {
	installation, err := e.store.Installation(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.things[id] = family.SharedThing{ID: id, Kind: "firewall", Name: "muster-" + id, Tags: map[string]string{family.TagInstallation: installation, family.TagCluster: cluster}}
}

// What a cluster's machines shared goes after the last of them, before it is said that nothing is left; what belongs to clusters that
// stand, or to someone else, stays.
func TestSharedResourcesOfDeletedClustersAreRemoved(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	gone := e.await(e.create(2).ID)
	exists, err := e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, appcluster.CreateRequest{Name: "exists", Request: layout.Request{Template: "web", Size: 2}})
	if err != nil {
		t.Fatal(err)
	}
	e.await(exists.ID)
	cloud := &sharing{Provider: e.cloud, things: map[string]family.SharedThing{"theirs": {ID: "theirs", Tags: map[string]string{family.TagInstallation: "other", family.TagCluster: gone.ID}}}, used: true}
	cloud.put(e, "ours", gone.ID)
	cloud.put(e, "existing", exists.ID)
	e.delete(gone.ID)
	through := func(r *reconcile.Reconciler) { r.Providers = manyClouds{"cloud": cloud} }
	stop := e.reconciler(through)
	e.comesAbout("it is said that the firewall stays", func() bool {
		return strings.Contains(e.receipt(gone.ID).Proof.How, "firewall muster-ours stays: it is still used")
	})
	stop()
	if r := e.receipt(gone.ID); !r.Proof.At.IsZero() {
		t.Errorf("it is proven though a firewall is left: %+v", r.Proof)
	}
	cloud.mu.Lock()
	cloud.used = false
	cloud.mu.Unlock()
	defer e.reconciler(through)()
	e.comesAbout("it is proven", func() bool { return !e.receipt(gone.ID).Proof.At.IsZero() })
	if how := e.receipt(gone.ID).Proof.How; !strings.Contains(how, "Their shared resources were deleted: firewall muster-ours.") {
		t.Errorf("the proof says %q", how)
	}
	cloud.mu.Lock()
	defer cloud.mu.Unlock()
	if len(cloud.things) != 2 || cloud.things["theirs"].ID == "" || cloud.things["existing"].ID == "" {
		t.Errorf("what is left: %+v", cloud.things)
	}
}
