//go:build real

package store_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/store"
)

// Servers that start at the same moment on an empty database agree on tables, id, key and first account.
func TestPostgresServersStartConcurrently(t *testing.T) {
	p, err := postgres()
	if err != nil {
		t.Fatal(err)
	}
	where := p.Fresh(t, "")
	stores := make([]*store.Store, 6)
	passwords := make([]string, len(stores))
	var all sync.WaitGroup
	for i := range stores {
		all.Go(func() {
			s, err := store.Open(t.Context(), where, key)
			if err != nil {
				t.Error(err)
				return
			}
			stores[i] = s
			if passwords[i], err = appall.New(appall.Config{Store: s, Now: time.Now}).Identity.Users.EnsureAdmin(t.Context(), ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	ids, made := map[string]bool{}, 0
	for i, s := range stores {
		if s == nil {
			continue
		}
		defer s.Close()
		id, err := s.Installation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ids[id] = true
		if passwords[i] != "" {
			made++
		}
	}
	if len(ids) != 1 || made != 1 {
		t.Errorf("ids %v and %d first accounts, want one of each", ids, made)
	}
	if other, err := store.Open(t.Context(), where, bytes.Repeat([]byte{8}, store.KeySize)); app.CodeOf(err) != app.EConflict {
		_ = other.Close()
		t.Errorf("another key: %v", err)
	}
}

// What one server commits wakes those who watch at another, and the dispatcher.
func TestPostgresServersNotifyEachOther(t *testing.T) {
	where := fresh(t)
	one, two := open(t, where), open(t, where)
	other, stopOther := two.Watch(app.ClusterTopic("another-1"))
	defer stopOther()
	wait := func(who string, woken <-chan struct{}) {
		t.Helper()
		select {
		case <-woken:
		case <-time.After(hangs):
			t.Errorf("%s was not woken", who)
		}
	}
	create := func(name string) {
		t.Helper()
		if _, err := one.CreateCluster(t.Context(), apptest.NewCluster("t", name, 1, time.Now(), apptest.Chain(1))); err != nil {
			t.Fatal(err)
		}
	}
	create("another")
	wait("who watches", other)
	// A new connection wakes everyone, since no one knows what was missed. Once it is, only who is meant is woken.
	for i := 0; ; i++ {
		drain(other)
		drain(two.Committed())
		name := fmt.Sprintf("web%d", i)
		changed, stop := two.Watch(app.ClusterTopic(name + "-1"))
		create(name)
		wait("who watches", changed)
		wait("who sends", two.Committed())
		stop()
		if len(other) == 0 {
			return
		}
		if i == 10 {
			t.Fatal("who watches another cluster is woken each time")
		}
	}
}

// A cancel is sent to the workers of all servers, whichever of them was asked for it.
func TestPostgresServersForwardCancels(t *testing.T) {
	where := fresh(t)
	one, two := open(t, where), open(t, where)
	other, stopOther := two.Watch(app.StopsTopic("t2"))
	defer stopOther()
	notified, stop := two.Watch(app.StopsTopic("t"))
	defer stop()
	for i := 0; ; i++ {
		op, err := one.CreateCluster(t.Context(), apptest.NewCluster("t", fmt.Sprintf("web%d", i), 1, time.Now(), apptest.Chain(1)))
		if err != nil {
			t.Fatal(err)
		}
		drain(notified) // also of the wake-up that a new connection is
		drain(other)
		if _, err := one.ControlOperation(t.Context(), app.Control{Tenant: "t", Operation: op.ID, Act: app.ControlCancel, Who: "ada", Now: time.Now()}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-notified:
		case <-time.After(hangs):
			t.Fatal("the other server was not notified")
		}
		if len(other) == 0 {
			return
		}
		if i == 10 {
			t.Fatal("another tenant is notified each time")
		}
	}
}

func drain(c <-chan struct{}) {
	for len(c) > 0 {
		<-c
	}
}

// Several servers, many workers of each, clusters at the same time: every step is done once, in order, and anyone who follows
// the feed from number to number misses nothing.
func TestPostgresServersShareTheWork(t *testing.T) {
	where := fresh(t)
	servers := []*store.Store{open(t, where), open(t, where), open(t, where)}
	const clusters, nodes = 9, 8
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	var all sync.WaitGroup
	for i := range clusters {
		all.Go(func() {
			name := fmt.Sprintf("c%d", i)
			if _, err := servers[i%3].CreateCluster(ctx, apptest.NewCluster("t", name, nodes, time.Now(), apptest.Chain(nodes))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var mu sync.Mutex
	effects := map[string]int{}
	var followers, workers sync.WaitGroup
	for i := range clusters {
		followers.Go(func() { follow(ctx, t, servers[(i+1)%3], fmt.Sprintf("c%d-1", i)) })
	}
	for i, s := range servers {
		for j := range 4 {
			workers.Go(func() {
				w := app.WorkerID{Tenant: "t", Name: fmt.Sprintf("s%dw%d", i, j)}
				for idle := 0; idle < 20 && ctx.Err() == nil; {
					cs, err := s.ClaimSteps(ctx, execution.ClaimQuery{Worker: w, Now: time.Now(), For: execution.ClaimFor, Most: 3})
					if err != nil {
						t.Error(err)
						return
					}
					if len(cs) == 0 {
						idle++
						time.Sleep(10 * time.Millisecond)
						continue
					}
					idle = 0
					for _, c := range cs {
						mu.Lock()
						effects[c.Cluster.ID+"/"+c.Step.ID]++
						mu.Unlock()
						f := execution.Finish{Fence: app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}, Now: time.Now()}
						if out, err := s.FinishSteps(ctx, w, []execution.Finish{f}); err != nil || out[0].Err != nil {
							t.Error(err, out)
						}
					}
				}
			})
		}
	}
	workers.Wait()
	if len(effects) != clusters*nodes*4 {
		t.Errorf("%d steps were done, want %d", len(effects), clusters*nodes*4)
	}
	for step, n := range effects {
		if n != 1 {
			t.Errorf("%s was done %d times", step, n)
		}
	}
	list, err := servers[0].Clusters(t.Context(), "t", app.ClusterFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if c.Cluster.Status != app.ClusterActive {
			t.Errorf("%s is %s: %s", c.Cluster.ID, c.Cluster.Status, c.Cluster.Message)
		}
	}
	followers.Wait()
}

// follow reads a cluster's feed as people do: when woken, what came after the last number, until the cluster is active. By
// then it must have read all that there is.
func follow(ctx context.Context, t *testing.T, s *store.Store, cluster string) {
	changed, stop := s.Watch(app.ClusterTopic(cluster))
	defer stop()
	var seen []app.Event
	var last int64
	for active := false; !active; {
		events, err := s.Events(ctx, "t", cluster, last, 1000)
		if err != nil {
			t.Error(err)
			return
		}
		for _, e := range events {
			seen, last = append(seen, e), e.Seq
			active = active || e.Kind == app.EventCluster && e.Status == string(app.ClusterActive)
		}
		if active {
			break
		}
		select {
		case <-ctx.Done():
			t.Errorf("%s: %v after %d events", cluster, ctx.Err(), len(seen))
			return
		case <-changed:
		}
	}
	all, err := s.Events(ctx, "t", cluster, 0, 10000)
	if err != nil {
		t.Error(err)
	}
	for len(all) > 0 && all[len(all)-1].Seq > last {
		all = all[:len(all)-1]
	}
	if len(all) != len(seen) {
		t.Errorf("%s: %d events were read on the way, there are %d", cluster, len(seen), len(all))
	}
}

func TestPostgresErrorsAreReadable(t *testing.T) {
	p, err := postgres()
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{`CREATE DATABASE latin WITH ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
		`CREATE ROLE guest LOGIN`, `REVOKE CREATE ON SCHEMA public FROM PUBLIC`} {
		if _, err := p.SQL("postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		where string
		code  app.Code
		words string
	}{
		{p.NetworkURL(template, "s3cret-wrong"), app.ECredentials, `rejected user "app"`},
		{p.NetworkURL("nowhere", p.Password), app.ENotFound, `has no database "nowhere"`},
		{p.URL("latin"), app.EInvalid, "uses the encoding LATIN1"},
		{strings.Replace(p.URL("postgres"), "user="+p.User, "user=guest", 1), app.EForbidden, "isn't allowed to create tables"},
	} {
		s, err := store.Open(t.Context(), c.where, key)
		if err == nil {
			_ = s.Close()
		}
		if app.CodeOf(err) != c.code || !strings.Contains(fmt.Sprint(err), c.words) || strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("%s: %s %v", c.words, app.CodeOf(err), err)
		}
	}
	open(t, p.NetworkURL(template, p.Password))
}
