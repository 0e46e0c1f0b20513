package operation_test

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/humanize"
	"muster/app/template"
	"muster/app/webhook"
)

// A cluster whose upgrade leaves its health policy out is checked again when that is undone, or called off before it began.
func TestUndoRestoresHealth(t *testing.T) {
	for name, begin := range map[string]bool{"rolled back": true, "called off": false} {
		t.Run(name, func(t *testing.T) {
			f := newWithWorker(t)
			shop := *f.Catalog.Templates["shop"]
			shop.Health = &template.HealthPolicy{After: 5}
			f.Catalog.Templates["shop"] = &shop
			v := f.Shop(3, nil)
			looks := func(want bool) {
				t.Helper()
				h, err := f.Store.ClusterHealth(t.Context(), app.DefaultTenant, v.ID)
				if err != nil || (h != nil) != want {
					t.Fatalf("health is %+v, %v; is it checked: want %t", h, err, want)
				}
			}
			looks(true)
			bare := shop
			bare.Health = nil
			bare.Defaults.Config = map[string]any{"port": 81, "peers": "%join(host.service.web,' ')%", "db": map[string]any{"size": 2, "password": "${secret:DB}"}}
			f.Catalog.Templates["shop"] = &bare
			if !begin { // it waits for the answer of a hook
				if _, err := f.Services.Webhook.SaveHook(t.Context(), f.Actor("root", app.RoleAdmin), webhook.EndpointRequest{Name: "gate", When: template.HookBefore,
					URL: "https://hooks.example.org/gate", Operations: &[]app.OperationKind{app.OperationUpgrade}}); err != nil {
					t.Fatal(err)
				}
			}
			_, answer := f.Update(cluster.Update{Kind: app.OperationUpgrade})
			if answer.Operation == 0 {
				t.Fatal("there is nothing to upgrade")
			}
			looks(false)
			if begin {
				steps, err := f.Services.Cluster.Activity.Steps(t.Context(), f.Who, v.ID, answer.Operation)
				if err != nil {
					t.Fatal(err)
				}
				f.FailAt = steps[len(steps)-1].ID
				f.Work()
				f.FailAt = ""
				if _, err := f.Services.Operation.RollBacks.RollBack(t.Context(), f.Who, v.ID, 0, "", ""); err != nil {
					t.Fatal(err)
				}
				f.Work()
			} else if _, err := f.Services.Operation.Controls.CancelOperation(t.Context(), f.Who, v.ID, answer.Operation, false); err != nil {
				t.Fatal(err)
			}
			f.status(app.ClusterActive)
			looks(true)
			if due, err := f.Store.HealthDue(t.Context(), f.Clock.Now()); err != nil || due.Next.IsZero() {
				t.Errorf("the next round is %+v, %v", due, err)
			}
		})
	}
}

// A repair that a hook vetoed is tried again later and later, and the cluster's health says why it was not made.
func TestVetoedRepairIsTriedLater(t *testing.T) {
	f := newWithWorker(t)
	shop := *f.Catalog.Templates["shop"]
	shop.Health = &template.HealthPolicy{Repair: template.RepairAuto}
	f.Catalog.Templates["shop"] = &shop
	v := f.Shop(3, nil)
	for i, want := range []time.Duration{10 * time.Minute, 20 * time.Minute} {
		_, answer := f.Update(cluster.Update{Kind: app.OperationRestart})
		f.Work()
		f.SQL(`UPDATE operations SET status = 'cancelled', vetoed_by = 'gate', message = 'The hook "gate" said no: Freeze. Nothing was done.' WHERE id = ?`, answer.Operation)
		if err := f.Store.NoteRepair(t.Context(), execution.RepairNote{Tenant: app.DefaultTenant, Cluster: v.ID, Now: f.Clock.Now(), NextAt: f.Clock.Now(),
			Operation: answer.Operation, Failures: i}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second look comes too early
			if n, err := f.Services.Execution.Health.RepairUnhealthy(t.Context()); err != nil || n != 0 {
				t.Fatalf("%d repairs were begun, %v", n, err)
			}
		}
		h, err := f.Services.Execution.Health.Health(t.Context(), f.Who, v.ID)
		if err != nil || !strings.Contains(h.Note, `The hook "gate" said no: Freeze.`) || !strings.Contains(h.Note, "Next attempt in "+humanize.Duration(want)+".") {
			t.Errorf("health says %q, %v", h.Note, err)
		}
		if due, err := f.Store.RepairsDue(t.Context(), f.Clock.Now().Add(want-time.Second), 10); err != nil || len(due) != 0 {
			t.Errorf("due too early: %+v, %v", due, err)
		}
		if due, err := f.Store.RepairsDue(t.Context(), f.Clock.Now().Add(want), 10); err != nil || len(due) != 1 {
			t.Errorf("not due: %+v, %v", due, err)
		}
	}
}
