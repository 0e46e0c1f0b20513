package server

import (
	"cmp"
	"context"
	"net"
	"os"
	"time"

	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/program"
	"muster/app/tunnel"
	"muster/automators"
	"muster/cmd/muster/cli"
	"muster/jobs"
	"muster/jobs/provisioner"
	"muster/jobs/upkeep"
)

// tools opens every automator.
func tools() (map[string]family.Automator, error) {
	all := map[string]family.Automator{}
	for _, name := range automators.Names() {
		a, err := automators.New(name)
		if program.IsRefused(err) {
			continue // it was removed since
		}
		if err != nil {
			return nil, err
		}
		all[name] = a
	}
	return all, nil
}

// runWorkers is the provisioner inside this server: it runs a worker for each assigned tenant, in this process.
func (s *Server) runWorkers(ctx context.Context) error {
	automators, err := tools()
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	p := &provisioner.Provisioner{
		Registration: fleet.Registration{Name: "server on " + cmp.Or(host, "this host"), Host: host, Version: cli.VersionName(), Tags: s.Tags, Slots: s.Workers},
		Server:       s.Services.Fleet.Registries.LocalRegistry(s.LocalWorkers(), s.alone()),
		Log:          s.Log,
		OnRegister:   func(fleet.Registered) { s.registeredOnce.Do(func() { close(s.registered) }) },
	}
	s.Services.Tunnel.SetLocal(&tunnel.Local{Tags: s.Tags, Dial: func(ctx context.Context, r tunnel.Request) (net.Conn, error) {
		return provisioner.Connect(ctx, s.guard().DialContext, r)
	}})
	defer s.Services.Tunnel.SetLocal(nil)
	cache := resourceCache(s.Data, int64(s.Resources.Cache), s.Log)
	p.Start = func(r fleet.Registered, name string, o fleet.WorkerOrder) (provisioner.WorkerHandle, error) {
		c := s.Services.Fleet.Registries.CoordinatorOf(r.ID, o.Tenant)
		return provisioner.StartLocal(jobs.WorkerConfig{Name: name, Tenant: o.Tenant, Slots: o.Slots, Queue: s.queue, Coordinator: c,
			Providers: s.Providers, Guard: s.guard().DialContext, Automators: automators, Log: s.Log, Resources: cache,
			Meter: s.metrics, Tracer: s.tracer}, c.(execution.WorkWaiter))
	}
	return p.Run(ctx)
}

// workforce are the workers inside this server.
type workforce struct {
	stop   context.CancelFunc
	failed chan error
	done   chan struct{}
}

// startWorkers starts the workers, if any, and waits until they're registered, so that requests that need them are accepted.
func (s *Server) startWorkers(ctx context.Context) *workforce {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	w := &workforce{stop: stop, failed: make(chan error, 1), done: make(chan struct{})}
	if s.Workers == 0 {
		close(w.done)
		return w
	}
	ended := make(chan struct{})
	go func() {
		defer close(w.done)
		defer close(ended)
		if err := s.runWorkers(ctx); err != nil {
			w.failed <- err
		}
	}()
	select {
	case <-s.registered:
	case <-ended:
	}
	return w
}

// alone tells that no other server can use the same database.
func (s *Server) alone() bool { return s.Database == "" }

// balance distributes all provisioners' slots among tenants.
func (s *Server) balance(ctx context.Context) {
	balancer := &fleet.Balancer{
		Store: s.Store, Now: wallClock, Catalogs: s.Services.Catalog, Mono: time.Now, Most: s.TenantSlots, Alone: s.alone()}
	(&upkeep.Balance{Balancer: balancer, Feed: s.Store, Log: s.Log}).Run(ctx)
}
