package operation_test

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/secret"
	"muster/app/template"
)

// parametric is a harness with a worker whose template has parameters.
func parametric(t *testing.T) *withWorker {
	f := newWithWorker(t)
	f.Catalog.Templates["shop"].Parameters = []template.Parameter{
		{Name: "port", Type: template.ParameterInteger, Min: "1", Max: "65535", Default: 80, To: []string{"config.port"}},
		{Name: "workers", Type: template.ParameterInteger, Min: "1", Max: "64", To: []string{"config.web.workers"}},
		{Name: "machine", Type: template.ParameterText, To: []string{"hardware"}},
	}
	return f
}

func TestParametersAreChangedWithinTheirLimits(t *testing.T) {
	f := parametric(t)
	f.Shop(3, map[string]any{"greeting": "hello"})
	p, _ := f.Carried(cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{"port": "8080", "workers": 4}})
	if len(p.Changes) != 2 {
		t.Errorf("what changes: %+v", p.Changes)
	}
	d := f.Definition()
	if web, _ := d.Config["web"].(map[string]any); !sameValue(d.Config["port"], 8080) || !sameValue(web["workers"], 4) || d.Config["greeting"] != "hello" {
		t.Errorf("the configuration is %v", d.Config)
	}
	if len(d.Parameters) != 2 {
		t.Errorf("what is kept for upgrades: %v", d.Parameters)
	}
	if _, own := d.Overrides["port"]; own {
		t.Errorf("a parameter counts as asked for beside the template: %v", d.Overrides)
	}
	// Taken back, both are what the template says.
	f.Carried(cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{"port": nil, "workers": ""}})
	d = f.Definition()
	if web, _ := d.Config["web"].(map[string]any); !sameValue(d.Config["port"], 80) || web["workers"] != nil || len(d.Parameters) != 0 {
		t.Errorf("taken back, it is %v with %v", d.Config, d.Parameters)
	}
	if p := f.Preview(cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{"port": 80}}); !p.NoChanges {
		t.Errorf("setting the current value changes %+v", p.Changes)
	}
}

func TestWrongParametersOfUpdatesAreRefused(t *testing.T) {
	f := parametric(t)
	f.Shop(3, nil)
	say := func(name string, v any) cluster.Update {
		return cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{name: v}}
	}
	f.refused(say("port", 70000), "parameters.port", "65535")
	f.refused(say("port", "many"), "parameters.port", "")
	f.refused(say("prot", 1), "parameters.prot", "Did you mean port?")
	f.refused(say("machine", "large"), "parameters.machine", "can't be changed afterwards")
	f.refused(cluster.Update{Kind: app.OperationResize, Size: 4, Parameters: map[string]any{"port": 1}}, "parameters", "isn't used for changes of kind resize")
	f.refused(cluster.Update{Kind: app.OperationReconfigure}, "config", "Nothing to change")
	// What a parameter limits is said by it only.
	f.refused(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": 70000}}, "config.port", "--param")
	f.refused(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"web": nil}}, "config.web", "workers")
	f.Catalog.Templates["shop"].Parameters[1].Required = true
	f.refused(say("workers", nil), "parameters.workers", "is required")
	delete(f.Catalog.Templates, "shop")
	f.refused(say("port", 81), "parameters", "no longer in the catalog")
}

// Configuration that is fixed is so for parameters too.
func TestParametersDoNotChangeWhatIsImmutable(t *testing.T) {
	f := parametric(t)
	f.Catalog.Templates["shop"].Immutable = []string{"config.port"}
	f.Shop(3, nil)
	f.refused(cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{"port": 81}}, "config.port", "doesn't allow")
}

func TestFixedLeasesAreNotMoved(t *testing.T) {
	f := newWithWorker(t)
	f.Catalog.Templates["shop"].Immutable = []string{"lease"}
	f.Catalog.Templates["shop"].Lease = template.Lease{Initial: 8 * time.Hour, Max: 72 * time.Hour}
	v := f.Shop(3, nil)
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		_, err := f.Services.Lease.Leases.ExtendLease(t.Context(), f.Who, v.ID, template.LeaseRequest{By: by})
		if e := app.AsError(err); err == nil || e.Code != app.EInvalid || e.Field != "lease" || e.Reason != "immutable" {
			t.Errorf("moved by %s: %v", by, err)
		}
	}
	root := f.Actor("root", app.RoleAdmin)
	if _, err := f.Services.Lease.Leases.ExtendLease(t.Context(), root, v.ID, template.LeaseRequest{By: -time.Hour}); app.AsError(err) == nil || app.AsError(err).Field != "reason" {
		t.Errorf("an admin without a reason: %v", err)
	}
	if _, err := f.Services.Lease.Leases.ExtendLease(t.Context(), root, v.ID, template.LeaseRequest{By: -time.Hour, Reason: "the account is closed"}); err != nil {
		t.Error(err)
	}
	if got := f.See("shop").ExpiresAt; !got.Equal(v.ExpiresAt.Add(-time.Hour)) {
		t.Errorf("it ends %s, it ended %s", got, v.ExpiresAt)
	}
}

func sameValue(a any, b int) bool {
	switch v := a.(type) {
	case int:
		return v == b
	case int64:
		return v == int64(b)
	case float64:
		return v == float64(b)
	}
	return false
}

func TestPreviewsShowBatches(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(5, nil)
	for batch, want := range map[int]string{0: "", 1: "1 node at a time", 2: "2 nodes at a time", 3: ""} {
		p := f.Preview(cluster.Update{Kind: app.OperationRestart, Services: []string{"web"}, Batch: batch})
		said := strings.Join(p.Notes, " ")
		if want != "" && !strings.Contains(said, want) || want == "" && strings.Contains(said, "at a time") {
			t.Errorf("three nodes in batches of %d: %q", batch, said)
		}
	}
	if p := f.Preview(cluster.Update{Kind: app.OperationStart, Services: []string{"web"}}); strings.Contains(strings.Join(p.Notes, " "), "at a time") {
		t.Errorf("a start has no batches: %q", p.Notes)
	}
}

// What a cluster's parameters are by now is shown with it, whether it was set or comes from the template.
func TestCurrentParameterValues(t *testing.T) {
	f := parametric(t)
	tmpl := f.Catalog.Templates["shop"]
	tmpl.Parameters = append(tmpl.Parameters,
		template.Parameter{Name: "cache", Type: template.ParameterSize, Default: "512M", Unit: "K", To: []string{"config.web.cache"}},
		template.Parameter{Name: "heap", Type: template.ParameterSize, To: []string{"config.web.heap"}},
		template.Parameter{Name: "keep", Type: template.ParameterDuration, Default: "7d", Unit: "ms"},
		template.Parameter{Name: "code", Type: template.ParameterText, Default: "xyzzy", To: []string{"config.web.password"}})
	f.Shop(3, map[string]any{"greeting": "hello"})
	reported := func(want map[string]string) {
		t.Helper()
		v, err := f.Services.Cluster.Views.Cluster(t.Context(), f.Who, f.See("shop").ID)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if got := template.ParameterValueText(v.Parameters[name]); got != value {
				t.Errorf("%s is %q, not %q", name, got, value)
			}
		}
		if len(v.Parameters) != len(want) {
			t.Errorf("%v is shown", v.Parameters)
		}
	}
	reported(map[string]string{"port": "80", "cache": "512M", "keep": "7d", "code": secret.HiddenValue})
	f.Carried(cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{"port": 8080, "heap": "1.5G", "keep": "90m"}})
	reported(map[string]string{"port": "8080", "cache": "512M", "heap": "1.5G", "keep": "90m", "code": secret.HiddenValue})
	// The template says something else by now; the cluster has what it was made with.
	for i := range tmpl.Parameters {
		if tmpl.Parameters[i].Name == "cache" {
			tmpl.Parameters[i].Default = "1G"
		}
	}
	reported(map[string]string{"port": "8080", "cache": "512M", "heap": "1.5G", "keep": "90m", "code": secret.HiddenValue})
	delete(f.Catalog.Templates, "shop")
	reported(map[string]string{"port": "8080", "heap": "1.5G", "keep": "90m"})
}
