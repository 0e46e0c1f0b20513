package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/providers/fake"
)

// looking is a cloud whose account can be looked at.
type looking struct {
	family.Provider
	mu    sync.Mutex
	found []family.Finding
	err   error
	asked int
}

func (l *looking) CheckAccount(_ context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked++; len(needs.Machines) != 1 || needs.Machines[0].Flavor.Flavor == "" || needs.Machines[0].Image.Image == "" {
		return nil, app.Errorf(app.EInternal, "asked for %+v", needs)
	}
	return l.found, l.err
}

// An account with which nothing can be made is reported before anything is requested, once for all machines.
func TestPreflightBeforeCreate(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	_ = e.worker.Close()
	cloud := &looking{Provider: e.cloud, found: []family.Finding{
		{About: family.AboutCredentials, OK: true, Message: "The key is taken."},
		{About: family.AboutImage, Subject: "host", Code: app.EInvalid, Message: "Image host is not in this account.", Hint: "Choose another name."},
		{About: family.AboutNetwork, Code: app.EInvalid, Message: "Network lan is gone."},
	}}
	e.startWorkerWith("w2", manyClouds{"cloud": cloud})
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterFailed)
	if n := e.cloud.Count(fake.Create); n != 0 {
		t.Errorf("%d machines were asked for", n)
	}
	if text := e.failure(v.ID); !strings.Contains(text, "no machine requested: Image host is not in this account. Network lan is gone.") {
		t.Errorf("people see: %s", text)
	}
	cloud.mu.Lock()
	defer cloud.mu.Unlock()
	if cloud.asked != 1 {
		t.Errorf("it was looked at %d times", cloud.asked)
	}
}

// Warnings, and a look that fails, keep no one from trying.
func TestCreateWithoutPreflight(t *testing.T) {
	for name, cloud := range map[string]*looking{
		"warnings": {found: []family.Finding{{About: family.AboutQuota, Warning: true, Code: app.EQuota, Message: "The quota is unknown."}}},
		"passing":  {found: []family.Finding{{About: family.AboutNetwork, Code: app.ETransient, Message: "It does not answer now."}}},
		"failing":  {err: app.Errorf(app.ETransient, "the line is dead")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, nil)
			_ = e.worker.Close()
			cloud.Provider = e.cloud
			e.startWorkerWith("w2", manyClouds{"cloud": cloud})
			e.want(e.await(e.create(2).ID), app.ClusterActive)
		})
	}
}

// failure returns what is said of the steps that failed.
func (e *engine) failure(cluster string) string {
	e.Helper()
	steps, err := e.app.Cluster.Activity.Steps(e.ctx, e.admin, cluster, 0)
	if err != nil {
		e.Fatal(err)
	}
	var all []string
	for _, s := range steps {
		if s.Error != "" {
			all = append(all, s.Error)
		}
	}
	return strings.Join(all, "\n")
}

// bounded is a cloud whose account may have so many machines, and which tells so before.
type bounded struct {
	family.Provider
	most   int
	mu     sync.Mutex
	asked  []int  // machines that each look was for
	before func() // called once, before the first look is answered
}

func (b *bounded) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.before != nil {
		b.before()
		b.before = nil
	}
	there, err := b.List(ctx, nil)
	n := 0
	for _, m := range needs.Machines {
		n += m.Count
	}
	b.asked = append(b.asked, n)
	if err == nil && len(there)+n > b.most {
		return []family.Finding{{About: family.AboutQuota, Code: app.EQuota, Message: fmt.Sprintf("Of %d machines %d are left, and %d more are needed.", b.most, b.most-len(there), n)}}, nil
	}
	return []family.Finding{{About: family.AboutQuota, OK: true, Message: "There is room."}}, err
}

func (b *bounded) looked() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

func withBound(t *testing.T, most int) (*engine, *bounded) {
	t.Parallel()
	e := newEngine(t, nil)
	_ = e.worker.Close()
	cloud := &bounded{Provider: e.cloud, most: most}
	e.startWorkerWith("w2", manyClouds{"cloud": cloud})
	return e, cloud
}

// An operation that needs more than the quota leaves ends before its first machine is asked for.
func TestPreflightCoversAllMachinesOfAnOperation(t *testing.T) {
	e, cloud := withBound(t, 3)
	v := e.await(e.create(5).ID)
	e.want(v, app.ClusterFailed)
	if n := e.cloud.Count(fake.Create); n != 0 {
		t.Errorf("%d machines were asked for", n)
	}
	if text := e.failure(v.ID); !strings.Contains(text, "no machine requested: Of 3 machines 3 are left, and 5 more are needed.") {
		t.Errorf("people see: %s", text)
	}
	if asked := cloud.looked(); !slices.Equal(asked, []int{5}) {
		t.Errorf("it was looked for %v machines", asked)
	}
}

// What is left exactly does; a second operation is looked at for itself, and a growth only for what is new.
func TestPreflightIsPerOperation(t *testing.T) {
	e, cloud := withBound(t, 7)
	first := e.await(e.create(3).ID)
	e.want(first, app.ClusterActive)
	grown, _ := e.updated(first.ID, appcluster.Update{Kind: app.OperationResize, Size: 5})
	e.want(grown, app.ClusterActive)
	other, err := e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, appcluster.CreateRequest{Name: "other", Request: layout.Request{Template: "web", Size: 3}})
	if err != nil {
		t.Fatal(err)
	}
	e.want(e.await(other.ID), app.ClusterFailed)
	if n := e.machines(); n != 5 {
		t.Errorf("%d machines, want the 5 of the first cluster", n)
	}
	if asked := cloud.looked(); !slices.Equal(asked, []int{3, 2, 3}) {
		t.Errorf("it was looked for %v machines, want 3, then the 2 that are new, then 3", asked)
	}
}

// A look that comes when others of the operation's machines stand already is for the one machine.
func TestLatePreflight(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	_ = e.worker.Close()
	v := e.create(3)
	installation, err := e.store.Installation(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	cloud := &bounded{Provider: e.cloud, most: 3, before: func() {
		e.cloud.Put(family.Machine{ID: "another worker's", State: family.MachineRunning, Tags: map[string]string{family.TagInstallation: installation, family.TagCluster: v.ID}})
	}}
	e.startWorkerWith("w2", manyClouds{"cloud": cloud})
	e.want(e.await(v.ID), app.ClusterActive)
	if asked := cloud.looked(); len(asked) < 2 || asked[0] != 3 || asked[1] != 1 {
		t.Errorf("it was looked for %v machines, want 3, and then the one", asked)
	}
}
