package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/template"
	"muster/app/webhook"
)

// TestScriptsOfHooks: what a template and a tenant want to be run before an operation has run on a node before anything of a service
// is done there, and what they want after it runs when all is done; each once, and just what was shown.
func TestScriptsOfHooks(t *testing.T) {
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		note := func(what string) string {
			return fmt.Sprintf("echo \"$MUSTER_NODE %s $MUSTER_SERVICE $MUSTER_ACTION\" >>%q\n", what, e.effect)
		}
		c.Templates["web"].Hooks = []template.OperationHook{
			{Name: "last", When: template.HookAfter, Script: note("last"), Services: []string{"front"}},
			{Name: "first", When: template.HookBefore, Script: note("first")},
			{Name: "other", When: template.HookBefore, Script: note("other"), Operations: []app.OperationKind{app.OperationRestart}},
		}
	})
	saved, err := e.app.Webhook.SaveHook(e.ctx, e.admin, webhook.EndpointRequest{Name: "house", When: template.HookBefore, Script: fmt.Sprintf("echo \"$MUSTER_NODE house\" >>%q\n", e.effect)})
	if err != nil {
		t.Fatal(err)
	}
	if saved.Secret != "" || saved.URL != "" {
		t.Errorf("a script has an address and a secret: %+v", saved)
	}
	ask := cluster.CreateRequest{Name: "web", Request: layout.Request{Template: "web", Size: 3}}
	p, err := e.app.Cluster.Creates.Preview(e.ctx, e.admin, ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Plan.Hooks) != 3 || p.Plan.Hooks[0].Name != "house" || p.Plan.Hooks[1].Name != "first" || p.Plan.Hooks[2].Name != "last" {
		t.Fatalf("the preview shows %+v", p.Plan.Hooks)
	}
	// What was shown is what runs: another script is another plan.
	if _, err := e.app.Webhook.SaveHook(e.ctx, e.admin, webhook.EndpointRequest{Name: "house", Script: fmt.Sprintf("echo \"$MUSTER_NODE home\" >>%q\n", e.effect)}); err != nil {
		t.Fatal(err)
	}
	ask.PlanHash = p.PlanHash
	if _, err := e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, ask); app.CodeOf(err) != app.EConflict {
		t.Fatalf("a plan that was not shown: %v", err)
	}
	ask.PlanHash = ""
	v, err := e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, ask)
	if err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterActive)
	effects := e.effects()
	at := func(what string) int {
		i := slices.Index(effects, what)
		if i < 0 || slices.Contains(effects[i+1:], what) {
			t.Fatalf("%q happened not just once:\n%s", what, strings.Join(effects, "\n"))
		}
		return i
	}
	last := at("n1 back.start")
	for _, n := range []string{"n2", "n3"} {
		if at(n+" home") > at(n+" first hook.first hook") || at(n+" first hook.first hook") > at(n+" front.install") {
			t.Errorf("on %s the order is wrong:\n%s", n, strings.Join(effects, "\n"))
		}
		last = max(last, at(n+" front.start"))
	}
	for _, n := range []string{"n2", "n3"} {
		if at(n+" last hook.last hook") < last {
			t.Errorf("the last hook on %s is not last:\n%s", n, strings.Join(effects, "\n"))
		}
	}
	if len(effects) != 14 {
		t.Errorf("%d effects, want 14:\n%s", len(effects), strings.Join(effects, "\n"))
	}
	// Nothing is run where machines are given back.
	if _, err := e.app.Cluster.Deletes.DeleteCluster(e.ctx, e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted)
	if n := len(e.effects()); n != 14 {
		t.Errorf("after deletion there are %d effects", n)
	}
}

// TestScriptOfAHookFails: it fails its operation as any step does, which can be rolled back.
func TestScriptOfAHookFails(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		c.Templates["web"].Hooks = []template.OperationHook{{Name: "first", When: template.HookBefore, Script: "echo no room >&2; exit 3"}}
	})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterFailed)
	if !strings.Contains(v.Message, "hook.first") || !strings.Contains(v.Message, "no room") {
		t.Errorf("the cluster says %q", v.Message)
	}
	if n := e.effects(); len(n) != 1 || n[0] != "" {
		t.Errorf("services were set up all the same: %v", n)
	}
	if _, err := e.app.Operation.RollBacks.RollBack(e.ctx, e.admin, v.ID, 0, "", ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted)
	if e.machines() != 0 {
		t.Errorf("%d machines are left", e.machines())
	}
}
