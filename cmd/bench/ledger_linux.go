package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	applayout "muster/app/layout"
	apptemplate "muster/app/template"
	"muster/jobs"
	"muster/jobs/remote"
	"muster/providers/fake"
)

// still is a shell on which everything succeeds at once: what is left is the engine's own cost.
type still struct{}

var _ jobs.Shells = still{}

func (s still) Get(context.Context, remote.Target) (family.Shell, func(bool), error) {
	return s, func(bool) {}, nil
}
func (still) Await(context.Context, remote.Target) (string, error) { return "ssh-ed25519 AAAA", nil }
func (still) Close() error                                         { return nil }

func (still) Run(_ context.Context, c family.Command, _ family.Output) (int, error) {
	if c.Stdin != nil {
		_, _ = io.Copy(io.Discard, c.Stdin)
	}
	return 0, nil
}
func (still) Put(context.Context, string, fs.FileMode, io.Reader) error { return nil }

// eight is a catalog whose nodes have eight steps each: create, confirm, bootstrap, three of the service back, two of
// front, which starts once every back has.
func eight() *apptemplate.Catalog {
	script := func() *apptemplate.ServiceAction {
		return &apptemplate.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true\n"}}
	}
	c := apptemplate.NewCatalog()
	c.Providers["cloud"] = &apptemplate.ProviderSpec{About: apptemplate.About{Name: "cloud"}, Type: "fake"}
	c.Hardware["small"] = &apptemplate.HardwareType{About: apptemplate.About{Name: "small"}, Providers: map[string]apptemplate.Flavor{"cloud": {Flavor: "s", CostPerHour: 0.5}}}
	c.Images["linux"] = &apptemplate.ImageType{About: apptemplate.About{Name: "linux"}, Providers: map[string]apptemplate.Image{"cloud": {Image: "i"}}}
	c.Services["back"] = &apptemplate.Service{About: apptemplate.About{Name: "back"}, Actions: map[app.Action]*apptemplate.ServiceAction{
		app.ActionInstall: script(), app.ActionConfigure: script(), app.ActionStart: script()}}
	c.Services["front"] = &apptemplate.Service{About: apptemplate.About{Name: "front"}, Runtime: apptemplate.Dependencies{Requires: []string{"back"}},
		Actions: map[app.Action]*apptemplate.ServiceAction{app.ActionInstall: script(), app.ActionStart: script()}}
	c.Templates["web"] = &apptemplate.Template{About: apptemplate.About{Name: "web"},
		Defaults:    apptemplate.Defaults{Provider: "cloud", Services: []string{"back", "front"}},
		Constraints: apptemplate.Constraints{Size: apptemplate.SizeRange{Min: 1, Max: apptemplate.Unlimited}}}
	return c
}

// stepsOfEight is how many steps a node of that catalog has. In clusters of at most app.NamesMost nodes one more writes the others' names.
const stepsOfEight = 8

// create asks for a cluster and waits until it's active.
func (r *rig) create(ctx context.Context, tenant, template, name string, size int) (app.Operation, time.Duration, error) {
	began := time.Now()
	ask := func() (cluster.View, error) {
		return r.app.Cluster.Creates.CreateCluster(ctx, app.Actor{Tenant: tenant, User: "ada", Role: app.RoleAdmin},
			cluster.CreateRequest{Name: name, Request: applayout.Request{Template: template, Size: size}})
	}
	v, err := ask()
	for app.CodeOf(err) == app.ERateLimit && ctx.Err() == nil { // more at once than a tenant may ask
		time.Sleep(10 * time.Millisecond)
		v, err = ask()
	}
	if err != nil {
		return app.Operation{}, 0, err
	}
	accepted := time.Since(began)
	op, err := r.await(ctx, tenant, v.ID)
	return op, accepted, err
}

// bigCluster measures one cluster of so many nodes: besides the cost, how long the request took ("accepted"), and "commits" of a step.
func bigCluster(ctx context.Context, nodes int, embedded bool) (sample, error) {
	tools, err := shellTools()
	if err != nil {
		return nil, err
	}
	r, err := newRig(ctx, rigConfig{catalog: eight(), cloud: fake.New("cloud"), shells: still{}, tools: tools,
		tenants: []string{app.DefaultTenant}, slots: 256, embedded: embedded})
	if err != nil {
		return nil, err
	}
	defer r.close()
	before := r.store.Commits()
	var accepted time.Duration
	c, err := during(r.redis, func() error {
		op, a, err := r.create(ctx, app.DefaultTenant, "web", "big", nodes)
		if accepted = a; err == nil && (op.Done != op.Total || op.Done < nodes*stepsOfEight) {
			err = fmt.Errorf("%d of %d steps, expected at least %d", op.Done, op.Total, nodes*stepsOfEight)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s := c.sample()
	s["accepted"] = accepted.Seconds()
	s["commits"] = float64(r.store.Commits()-before) / float64(nodes*stepsOfEight)
	return s, nil
}

// manyClusters measures so many clusters at once, spread unevenly over tenants that have as many slots each. It returns the
// mean time from request to ready of each tenant, fastest first, as a share of what it would be if all waited alike.
func manyClusters(ctx context.Context, clusters, nodes int) (c cost, worst float64, err error) {
	tools, err := shellTools()
	if err != nil {
		return c, 0, err
	}
	const tenants = 10
	names := make([]string, tenants)
	for i := range names {
		names[i] = fmt.Sprintf("tenant%d", i)
	}
	r, err := newRig(ctx, rigConfig{catalog: eight(), cloud: fake.New("cloud"), shells: still{}, tools: tools, tenants: names, slots: 16})
	if err != nil {
		return c, 0, err
	}
	defer r.close()
	var mu sync.Mutex
	var first error
	took := map[string][]time.Duration{}
	c, err = during(r.redis, func() error {
		var all sync.WaitGroup
		for i := range clusters {
			tenant := names[i%tenants]
			all.Go(func() {
				began := time.Now()
				_, _, err := r.create(ctx, tenant, "web", fmt.Sprintf("c%d", i), nodes)
				mu.Lock()
				defer mu.Unlock()
				took[tenant] = append(took[tenant], time.Since(began))
				if first == nil {
					first = err
				}
			})
		}
		all.Wait()
		return first
	})
	if err != nil {
		return c, 0, err
	}
	var means []time.Duration
	var sum time.Duration
	for _, ds := range took {
		var s time.Duration
		for _, d := range ds {
			s += d
		}
		means = append(means, s/time.Duration(len(ds)))
		sum += s / time.Duration(len(ds))
	}
	slices.Sort(means)
	return c, float64(means[len(means)-1]) * float64(len(means)) / float64(sum), nil
}
