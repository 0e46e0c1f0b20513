package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/layout"
	"muster/app/pool"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
)

// crowdedServer is a server with the example catalog and, where mode says so, another way for the sandbox to make machines.
func crowdedServer(t *testing.T, mode string, change func(*server.Config)) *server.Server {
	t.Helper()
	c := server.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Catalogs: []string{"../../examples/catalog"},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Env: os.LookupEnv}
	if mode != "" {
		over := t.TempDir()
		if err := os.WriteFile(filepath.Join(over, "mode.yaml"), []byte("kind: provider\nname: sandbox\ntype: sandbox\nsettings: {mode: "+mode+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.Catalogs = append(c.Catalogs, over)
	}
	if change != nil {
		change(&c)
	}
	s, err := server.New(context.WithoutCancel(t.Context()), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Services.Fleet.Registries.LocalRegistry(s.LocalWorkers(), true).Register(t.Context(), fleet.Registration{Name: "idle", Host: "h", Version: cli.VersionName(), Slots: 1}); err != nil {
		t.Fatal(err)
	}
	return s
}

func addTenant(s *server.Server, t *testing.T) error {
	t.Helper()
	_, _, err := s.Services.Identity.Tenants.CreateTenant(t.Context(), superIn(here), identity.NewTenant{Name: there})
	return err
}

// carryOut ends every step of a tenant as a worker would that has nothing to do.
func carryOut(s *server.Server, t *testing.T) {
	t.Helper()
	w := app.WorkerID{Name: "w", Tenant: here}
	for {
		steps, err := s.Services.Execution.Coordinator.Claim(t.Context(), w, 50)
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) == 0 {
			return
		}
		for _, as := range steps {
			r := execution.Report{Fence: as.Fence, Action: as.Action}
			if as.Action == app.ActionCreate || as.Action == app.ActionConfirm {
				r.Machine = &family.Machine{ID: as.Machine.Intent, State: family.MachineRunning, Addresses: map[string]string{"access_v4": "192.0.2.1"}}
			}
			if done, err := s.Services.Execution.Coordinator.Report(t.Context(), w, []execution.Report{r}); err != nil || done[0].Err != nil {
				t.Fatal(err, done)
			}
		}
	}
}

// Machines that are processes of the server's host need an installation with one tenant: their owners could read the data of others.
func TestTenantsShareNoProcessMachines(t *testing.T) {
	ask := cluster.CreateRequest{Name: "one", Request: layout.Request{Template: "web", Size: 3}}
	owner := app.Actor{Tenant: here, User: "bob", Role: app.RoleUser}
	refused := func(t *testing.T, what string, err error) {
		t.Helper()
		e := app.AsError(err)
		if err == nil || e.Reason != "process_mode" || !strings.Contains(e.Message, "sandbox") || !strings.Contains(e.Hint, "--tenant-host-access") {
			t.Errorf("%s: %v", what, err)
		}
	}
	t.Run("one tenant has them, and then there is no second one", func(t *testing.T) {
		s := crowdedServer(t, "process", nil)
		if _, err := s.Services.Cluster.Creates.CreateCluster(t.Context(), owner, ask); err != nil {
			t.Fatal(err)
		}
		refused(t, "a second tenant", addTenant(s, t))
	})
	t.Run("two tenants have none", func(t *testing.T) {
		s := crowdedServer(t, "process", nil)
		if err := addTenant(s, t); err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(s.Notes(t.Context()), "\n"); !strings.Contains(notes, "New ones are refused, since several tenants") {
			t.Errorf("the start says nothing of it: %q", notes)
		}
		_, err := s.Services.Cluster.Creates.Preview(t.Context(), owner, ask)
		refused(t, "preview", err)
		_, err = s.Services.Cluster.Creates.CreateCluster(t.Context(), owner, ask)
		refused(t, "create", err)
		one := 1
		_, err = s.Services.Pool.Pools.CreatePool(t.Context(), superIn(here), pool.Request{Name: "warm", Provider: "sandbox", Hardware: "small", Image: "host", Count: &one})
		refused(t, "pool", err)
		r, err := s.Services.Catalog.ApplyCatalog(t.Context(), superIn(here), catalog.Change{Files: yamlOf("kind: provider\nname: sandbox-own\ntype: sandbox\nsettings: {mode: process}\n").Files})
		if err != nil || r.Saved || !slices.ContainsFunc(r.Problems, func(p catalog.Problem) bool {
			return p.Severity == "error" && p.Field == "settings.mode" && strings.Contains(p.Message, "processes on the server's host")
		}) {
			t.Errorf("an own provider is saved: %+v, %v", r, err)
		}
	})
	t.Run("a cluster does not grow once there are two", func(t *testing.T) {
		s := crowdedServer(t, "process", func(c *server.Config) { c.HostAccess = true })
		made, err := s.Services.Cluster.Creates.CreateCluster(t.Context(), owner, ask)
		if err != nil {
			t.Fatal(err)
		}
		if err := addTenant(s, t); err != nil {
			t.Errorf("the operator allows it: %v", err)
		}
		carryOut(s, t)
		grow := cluster.Update{Kind: app.OperationResize, Size: 4}
		if _, err := s.Services.Operation.Updates.PreviewUpdate(t.Context(), owner, made.ID, grow); err != nil {
			t.Errorf("the operator allows it: %v", err)
		}
		s.Services.Catalog.TenantHostAccess = false
		_, err = s.Services.Operation.Updates.PreviewUpdate(t.Context(), owner, made.ID, grow)
		refused(t, "grow", err)
	})
	t.Run("a host's own choice is reported", func(t *testing.T) {
		s := crowdedServer(t, "", nil)
		if _, err := s.Services.Cluster.Creates.CreateCluster(t.Context(), owner, ask); err != nil {
			t.Fatal(err)
		}
		if err := addTenant(s, t); err != nil {
			t.Fatal(err)
		}
		as, err := s.Services.Execution.Coordinator.Claim(t.Context(), app.WorkerID{Name: "w", Tenant: here}, 1)
		if err != nil || len(as) != 1 || as[0].Action != app.ActionCreate || !as[0].Machine.Isolated {
			t.Errorf("%+v, %v", as, err)
		}
	})
}
