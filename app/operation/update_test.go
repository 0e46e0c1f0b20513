package operation_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/cluster"
	appoperation "muster/app/operation"
	"muster/app/policy"
	"muster/app/template"
)

func (f *withWorker) refused(m cluster.Update, field, words string) {
	f.Helper()
	_, err := f.Services.Operation.Updates.PreviewUpdate(f.Context(), f.Who, "shop", m)
	e := app.AsError(err)
	if err == nil || e.Code == app.EInternal || e.Field != field || !strings.Contains(e.Message+" "+e.Hint, words) {
		f.Errorf("%+v returns %s %q (field %q, hint %q), want field %q and %q", m, e.Code, e.Message, e.Field, e.Hint, field, words)
	}
	if _, asked := f.Services.Operation.Updates.Update(f.Context(), f.Who, "shop", m); app.CodeOf(asked) != app.CodeOf(err) {
		f.Errorf("%+v: the preview says %v, the asking %v", m, err, asked)
	}
}

// nodes returns "n1: db, n2: web".
func nodesOf(v cluster.View) string {
	var all []string
	for _, n := range v.Nodes {
		all = append(all, n.Name+": "+strings.Join(n.Services, " "))
	}
	return strings.Join(all, ", ")
}

func TestDiffOfAClusterThatGrew(t *testing.T) {
	f := newWithWorker(t)
	v := f.Shop(5, map[string]any{"extra": "x"})
	created := v.Operations[0].ID
	diff := func(a, b string) string {
		d, err := f.Services.Cluster.Specs.DiffClusters(f.Context(), f.Who, a, b)
		if err != nil {
			f.Fatal(err)
		}
		var all []string
		for _, c := range d.Changes {
			all = append(all, c.Path+" "+c.Before+">"+c.After)
		}
		return strings.Join(all, ", ")
	}
	at := func(operation int64) string { return fmt.Sprintf("shop@%d", operation) }
	f.Want("before it grew", diff(at(created), "shop"), "")
	f.Carried(cluster.Update{Kind: app.OperationResize, Size: 7})
	grown := f.See("shop").Operations[0].ID
	f.Want("what growth changed", diff(at(created), "shop"), "size 5>7")
	f.Want("between two operations", diff(at(created), at(grown)), "size 5>7")
	f.Want("since it grew", diff(at(grown), "shop"), "")
	for _, pair := range [][2]string{{"", "shop"}, {"shop", ""}, {"@1", "shop"}} {
		_, err := f.Services.Cluster.Specs.DiffClusters(f.Context(), f.Who, pair[0], pair[1])
		if e := app.AsError(err); e.Code != app.EInvalid || e.Message != "A cluster to compare is required." || e.Hint == "" {
			t.Errorf("%q: %v", pair, err)
		}
	}
}

func TestUpdatedClusterGrowsAndShrinks(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(3, map[string]any{"extra": "x"})
	p, _ := f.Carried(cluster.Update{Kind: app.OperationResize, Size: 5})
	f.Want("growth", harness.WorkOf(p), "n2.lb reload, n3.web reload, n4 new, n5 new")
	if p.Before != (cluster.Figures{Nodes: 3, CostPerHour: 1.5, Currency: "USD"}) || p.After != (cluster.Figures{Nodes: 5, CostPerHour: 2.5, Currency: "USD"}) {
		t.Errorf("from %+v to %+v", p.Before, p.After)
	}
	v := f.See("shop")
	f.Want("nodes", nodesOf(v), "n1: db, n2: lb, n3: web, n4: web, n5: web")
	if v.Size != 5 || v.CostPerHour != 2.5 {
		t.Errorf("size %d, %v an hour", v.Size, v.CostPerHour)
	}
	f.Want("peers", fmt.Sprint(f.Configs["n2.lb.reload"]["peers"]), peers(v, 3, 4, 5))

	p, done := f.Carried(cluster.Update{Kind: app.OperationResize, Nodes: []string{"n4"}})
	f.Want("shrinking", harness.WorkOf(p), "n2.lb reload, n3.web reload, n4 gone, n5.web reload")
	if slices.Index(done, "n2.lb.reload") > slices.Index(done, "n4.web.stop") {
		t.Error("the balancer learns of it after the server was stopped:", done)
	}
	v = f.See("shop")
	f.Want("nodes", nodesOf(v), "n1: db, n2: lb, n3: web, n5: web")
	f.Want("peers", fmt.Sprint(f.Configs["n2.lb.reload"]["peers"]), peers(v, 3, 5))

	f.Carried(cluster.Update{Kind: app.OperationResize, Nodes: []string{"n5"}})
	f.Carried(cluster.Update{Kind: app.OperationResize, Size: 4})
	f.Want("numbers are not used again", nodesOf(f.See("shop")), "n1: db, n2: lb, n3: web, n6: web")
	if r, err := f.Store.Reservations(t.Context(), app.DefaultTenant); err != nil || len(r) != 1 || r[0].Nodes != 4 || r[0].CPU != 8 || r[0].CostPerHour != 2 {
		t.Errorf("reserved is %+v, %v", r, err)
	}
}

func peers(v cluster.View, numbers ...int) string {
	var hosts []string
	for _, i := range numbers {
		hosts = append(hosts, fmt.Sprintf("%s-n%d.%s", v.ID, i, v.DNSSuffix))
	}
	return strings.Join(hosts, " ")
}

func addresses(v cluster.View, names ...string) string {
	var all []string
	for _, n := range v.Nodes {
		if slices.Contains(names, n.Name) {
			all = append(all, n.Address(app.AddressBind))
		}
	}
	return strings.Join(all, " ")
}

func TestUpdatedConfigurationReachesWhoReadsIt(t *testing.T) {
	f := newWithWorker(t)
	v := f.Shop(3, nil)
	p, _ := f.Carried(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": 81, "token": "hush"}})
	f.Want("only web reads it", harness.WorkOf(p), "n3.web reload")
	f.Want("changes", fmt.Sprint(p.Changes), "[{config.port 80 81} {config.token  •••}]")
	f.Want("the port", fmt.Sprint(f.Configs["n3.web.configure"]["port"]), "81")

	p, _ = f.Carried(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"db": map[string]any{"size": 2}}, NoRestart: true})
	f.Want("db reads its own key, the others do not", harness.WorkOf(p), "n1.db configure")
	f.Want("what stays, stays", fmt.Sprint(f.Configs["n1.db.configure"]["db"]), "map[password:hunter22 size:2]")

	// The template changes meanwhile: an upgrade keeps what was asked for.
	t2 := *f.Catalog.Templates["shop"]
	t2.Defaults.Config = map[string]any{"port": 90, "motd": "new", "peers": "%join(host.service.web,' ')%", "db": map[string]any{"size": 9, "password": "${secret:DB}"}}
	f.Catalog.Templates["shop"] = &t2
	web := *f.Catalog.Services["web"]
	web.Actions = maps.Clone(web.Actions)
	web.Actions[app.ActionStart] = &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "web start 2"}}
	f.Catalog.Services["web"] = &web
	p, _ = f.Carried(cluster.Update{Kind: app.OperationUpgrade})
	f.Want("upgrade", harness.WorkOf(p), "n3.web upgrade")
	f.Want("changes", fmt.Sprint(p.Changes), "[{config.motd  new} {services.web.start there changed}]")
	if p.Template != "shop" {
		t.Errorf("the template is %q", p.Template)
	}
	d, err := f.Store.Definition(t.Context(), app.DefaultTenant, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	f.Want("configuration", fmt.Sprint(d.Config), "map[db:map[password:${secret:DB} size:2] motd:new peers:%join(host.service.web,' ')% port:81 token:hush]")

	for _, m := range []cluster.Update{{Kind: app.OperationUpgrade}, {Kind: app.OperationReconfigure, Config: map[string]any{"port": 81}},
		{Kind: app.OperationResize, Size: 3}, {Kind: app.OperationRepair}} {
		p, a := f.Update(m)
		if !p.NoChanges || a.Operation != 0 || a.Cluster == nil || len(p.Notes) == 0 {
			t.Errorf("%s without a change: %+v, %+v", m.Kind, p, a)
		}
	}

	// What was taken out stays out, also when the template still has it.
	f.Carried(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"motd": nil}})
	if p := f.Preview(cluster.Update{Kind: app.OperationUpgrade}); !p.NoChanges {
		t.Errorf("an upgrade brings back what was taken out: %+v", p.Changes)
	}
}

// A whole configuration replaces the cluster's, and a newer version of a template that changes nothing on nodes is adopted without steps.
func TestWholeConfigurationAndAdoptedTemplate(t *testing.T) {
	f := newWithWorker(t)
	v := f.Shop(3, nil)
	d, err := f.Store.Definition(t.Context(), app.DefaultTenant, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := cluster.Concealed(d.Config).(map[string]any)
	want["port"] = 81
	delete(want, "db")
	p, _ := f.Carried(cluster.Update{Kind: app.OperationReconfigure, Config: want, Replace: true})
	f.Want("changes", fmt.Sprint(p.Changes), "[{config.db.password ${secret:DB} } {config.db.size 1 } {config.port 80 81}]")
	if p, a := f.Update(cluster.Update{Kind: app.OperationReconfigure, Config: want, Replace: true}); !p.NoChanges || a.Operation != 0 {
		t.Errorf("the same again: %+v, %+v", p, a)
	}

	newer := *f.Catalog.Templates["shop"]
	newer.Links = []app.Link{{Label: "Handbook", URL: "https://handbook.example.com"}}
	newer.Outputs = []template.Output{{Name: "port", Type: template.OutputText, Value: "${config:port}"}}
	f.Catalog.Templates["shop"] = &newer
	p, done := f.Carried(cluster.Update{Kind: app.OperationUpgrade})
	if p.NoChanges || len(p.Plan.Steps) != 0 || len(done) != 0 {
		t.Errorf("an upgrade that changes no node: %+v did %v", p, done)
	}
	if got := f.See("shop").Links; len(got) == 0 || got[0].Label != "Handbook" {
		t.Errorf("links are %v", got)
	}
	if got, err := f.Services.Outputs.ClusterOutputs(t.Context(), f.Who, "shop"); err != nil || len(got.Outputs) != 1 || got.Outputs[0].Value != "81" {
		t.Errorf("outputs are %+v, %v", got, err)
	}
}

func TestUpdatedServices(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(3, nil)
	p, _ := f.Carried(cluster.Update{Kind: app.OperationAddServices, Services: []string{"cache"}})
	f.Want("added everywhere", harness.WorkOf(p), "n1.cache added, n2.cache added, n3.cache added")
	f.Want("services", fmt.Sprint(f.See("shop").Services), "[cache db lb web]")
	f.Catalog.Services["cache"] = &template.Service{About: template.About{Name: "cache"}}
	p, done := f.Carried(cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"cache"}})
	f.Want("removed", harness.WorkOf(p), "n1.cache removed, n2.cache removed, n3.cache removed")
	if !slices.Contains(done, "n1.cache.remove") {
		t.Error("it is not removed by the entry that it was made by:", done)
	}
	f.Want("services", fmt.Sprint(f.See("shop").Services), "[db lb web]")
	f.refused(cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"db"}}, "services", "web")
}

func TestUpdatedRunning(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(4, nil)
	for _, c := range []struct {
		name string
		m    cluster.Update
		work string
		note string
	}{
		{"a stop takes along what needs it", cluster.Update{Kind: app.OperationStop, Services: []string{"db"}}, "n1.db stop, n2.lb stop, n3.web stop, n4.web stop", "Includes web, which needs db."},
		{"a start takes along what it needs", cluster.Update{Kind: app.OperationStart, Services: []string{"web"}}, "n1.db start, n3.web start, n4.web start", "Includes db, which web needs."},
		{"all are started", cluster.Update{Kind: app.OperationStart}, "n1.db start, n2.lb start, n3.web start, n4.web start", ""},
		{"one of several is no loss for those that need it", cluster.Update{Kind: app.OperationRestart, Services: []string{"web"}, Nodes: []string{"n3"}}, "n3.web restart", ""},
		{"a node by itself", cluster.Update{Kind: app.OperationRestart, Nodes: []string{"n2"}}, "n2.lb restart", ""},
		{"a restart takes along what needs it", cluster.Update{Kind: app.OperationRestart, Services: []string{"web"}}, "n2.lb restart, n3.web restart, n4.web restart", "Includes lb, which needs web."},
		{"one after the other, nothing comes along", cluster.Update{Kind: app.OperationRestart, Services: []string{"web"}, Batch: 1}, "n3.web restart, n4.web restart",
			"1 node at a time. If one fails, the rest stay unchanged."},
	} {
		p, _ := f.Carried(c.m)
		f.Want(c.name, harness.WorkOf(p), c.work)
		if c.note != "" && !slices.Contains(p.Notes, c.note) || c.note == "" && len(p.Notes) > 0 {
			t.Errorf("%s: the notes are %q", c.name, p.Notes)
		}
	}
}

func TestUpdatesThatAreRefused(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(3, nil)
	long := strings.Repeat("x", 600<<10)
	for _, c := range []struct {
		m            cluster.Update
		field, words string
	}{
		{cluster.Update{Kind: "grow"}, "kind", "resize"},
		{cluster.Update{Kind: app.OperationCreate}, "kind", "Use one of"},
		{cluster.Update{Kind: app.OperationResize}, "size", "required"},
		{cluster.Update{Kind: app.OperationResize, Size: -1}, "size", "must be 1 to"},
		{cluster.Update{Kind: app.OperationResize, Size: 9}, "size", "8"},
		{cluster.Update{Kind: app.OperationResize, Size: 4, Services: []string{"web"}}, "services", "isn't used"},
		{cluster.Update{Kind: app.OperationResize, Nodes: []string{"n9"}}, "nodes", "Did you mean"},
		{cluster.Update{Kind: app.OperationResize, Nodes: []string{"n3"}}, "nodes", "web would no longer run on any node"},
		{cluster.Update{Kind: app.OperationResize, Nodes: []string{"n3"}, Size: 1}, "size", "leaves 2 nodes, not 1"},
		{cluster.Update{Kind: app.OperationResize, Nodes: []string{"n1", "n2", "n3"}}, "nodes", "Delete the cluster"},
		{cluster.Update{Kind: app.OperationAddServices}, "services", "Services are required"},
		{cluster.Update{Kind: app.OperationAddServices, Services: []string{"cahce"}}, "services", "Did you mean cache?"},
		{cluster.Update{Kind: app.OperationAddServices, Services: []string{"web"}}, "services", "already"},
		{cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"wbe"}}, "services", "Did you mean web?"},
		{cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"web", "web"}}, "services", "twice"},
		{cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"web", "db", "lb"}}, "services", "remove all services"},
		{cluster.Update{Kind: app.OperationReconfigure}, "config", "Nothing to change"},
		{cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"a": "${secret:DB}"}}, "config", "secrets"},
		{cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"a": long}}, "config", "KiB"},
		{cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"a": "%nonsense%x"}}, "config.a", "isn't a macro"},
		{cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"a": "%host.service.web[3]%"}}, "config.a", "names node 4 with web"},
		{cluster.Update{Kind: app.OperationRestart, Services: []string{"web"}, Nodes: []string{"n1"}}, "services", "Choose from n3"},
		{cluster.Update{Kind: app.OperationRestart, Batch: -1}, "batch", "must be 1 to"},
		{cluster.Update{Kind: app.OperationStop, Batch: 2}, "batch", "isn't used"},
		{cluster.Update{Kind: app.OperationRepair, OnFailure: app.FailureRollBack}, "on_failure", "can't be rolled back"},
		{cluster.Update{Kind: app.OperationRestart, OnFailure: "panic"}, "on_failure", "roll_back"},
		{cluster.Update{Kind: app.OperationRepair, Nodes: []string{"m1"}}, "nodes", "Did you mean n1?"},
	} {
		f.refused(c.m, c.field, c.words)
	}
	clear(f.Catalog.Templates)
	f.refused(cluster.Update{Kind: app.OperationResize, Size: 4, Backfill: true}, "backfill", "Omit it")
	f.refused(cluster.Update{Kind: app.OperationResize, Size: 4}, "", "no longer in the catalog")
	f.refused(cluster.Update{Kind: app.OperationUpgrade}, "", "no longer in the catalog")
	f.Carried(cluster.Update{Kind: app.OperationRestart})
	f.Carried(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": 1}})
	if _, err := f.Services.Operation.Updates.Update(t.Context(), f.Who, "shop", cluster.Update{Kind: app.OperationRestart, PlanHash: "other"}); app.AsError(err).Reason != "plan_changed" {
		t.Error("another plan than was shown:", err)
	}
	if _, err := f.Services.Operation.Updates.Update(t.Context(), f.Actor("bob", app.RoleUser), "shop", cluster.Update{Kind: app.OperationRestart}); app.CodeOf(err) != app.ENotFound {
		t.Error("someone else's cluster:", err)
	}
	f.Update(cluster.Update{Kind: app.OperationRestart})
	f.refused(cluster.Update{Kind: app.OperationRestart}, "", "is running")
}

func TestUpdatedAfterFailure(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(3, map[string]any{"peers": "%join(ip.service.web,' ')%"})
	f.FailAt = "n4.web.start"
	f.Update(cluster.Update{Kind: app.OperationResize, Size: 5})
	f.Work()
	if v := f.See("shop"); v.Status != app.ClusterFailed {
		t.Fatal("the cluster is", v.Status)
	}
	for _, kind := range []app.OperationKind{app.OperationRestart, app.OperationUpgrade} {
		f.refused(cluster.Update{Kind: kind}, "", "Resume it, roll it back, change the configuration, repair the cluster or delete the cluster")
	}
	f.FailAt = ""
	p, _ := f.Carried(cluster.Update{Kind: app.OperationRepair, Nodes: []string{"n4"}})
	f.Want("what was left undone is done with it", harness.WorkOf(p), "n2.lb reload, n3.web reload, n4 replaced, n5.web reload")
	f.Want("nodes", nodesOf(f.See("shop")), "n1: db, n2: lb, n3: web, n4: web, n5: web")
	f.Want("addresses", fmt.Sprint(f.Configs["n2.lb.reload"]["peers"]), addresses(f.See("shop"), "n3", "n4", "n5"))

	// Rolled back, all is as it was.
	before := f.See("shop")
	f.FailAt = "n6.web.start"
	f.Update(cluster.Update{Kind: app.OperationResize, Size: 6, OnFailure: app.FailureRollBack})
	f.Work()
	f.FailAt = ""
	if n, err := f.Services.Operation.RollBacks.UndoFailed(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	f.Work()
	after := f.See("shop")
	if after.Status != app.ClusterActive || after.Size != before.Size || after.CostPerHour != before.CostPerHour {
		t.Errorf("rolled back, it is %s with %d nodes", after.Status, after.Size)
	}
	f.Want("nodes", nodesOf(after), nodesOf(before))

	// The configuration too.
	f.FailAt = "n3.web.start"
	f.Update(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": 99}})
	f.Work()
	f.FailAt = ""
	if _, err := f.Services.Operation.RollBacks.RollBack(t.Context(), f.Who, "shop", 0, "", ""); err != nil {
		t.Fatal(err)
	}
	f.Work()
	f.Want("the port is", fmt.Sprint(f.Configs["n3.web.configure"]["port"]), "80")
	d, err := f.Store.Definition(t.Context(), app.DefaultTenant, after.ID)
	if err != nil || fmt.Sprint(d.Config["port"]) != "80" {
		t.Errorf("%v, %v", d.Config, err)
	}
}

func TestUpdatedAfterACancelledRestart(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(3, nil)
	_, a := f.Update(cluster.Update{Kind: app.OperationRestart})
	if _, err := f.Services.Operation.Controls.CancelOperation(t.Context(), f.Who, "shop", a.Operation, false); err != nil {
		t.Fatal(err)
	}
	f.refused(cluster.Update{Kind: app.OperationResize, Size: 4}, "", "Cluster \"shop\" can't be changed this way: restarting services was cancelled")
	p := f.Preview(cluster.Update{Kind: app.OperationRepair})
	f.Want("a repair does what was left", harness.WorkOf(p), "n1.db restart, n2.lb restart, n3.web restart")
	f.Carried(cluster.Update{Kind: app.OperationStart})
}

// Where nothing but names is left to do, a repair does that, and once they are written there is nothing.
func TestNamesThatWereNotWritten(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(3, nil)
	f.FailAt = "n2.names"
	f.Update(cluster.Update{Kind: app.OperationResize, Size: 4})
	f.Work()
	f.FailAt = ""
	if v := f.See("shop"); v.Status != app.ClusterFailed {
		t.Fatalf("it is %s", v.Status)
	}
	p := f.Preview(cluster.Update{Kind: app.OperationRepair})
	f.Want("notes", strings.Join(p.Notes, " "), "Writes the node names on every node, since the resize didn't get that far.")
	_, done := f.Carried(cluster.Update{Kind: app.OperationRepair})
	slices.Sort(done)
	f.Want("a repair writes them", strings.Join(done, " "), "n1.names n2.names n3.names n4.names")
	if p := f.Preview(cluster.Update{Kind: app.OperationRepair}); !p.NoChanges {
		t.Errorf("and again it does %+v", p)
	}
}

func TestUpdatedLostMachine(t *testing.T) {
	f := newWithWorker(t)
	v := f.Shop(3, map[string]any{"peers": "%join(ip.service.web,' ')%"})
	if err := f.Store.MarkLost(t.Context(), app.DefaultTenant, v.ID, "Lost machines: n3. The cluster counts as active again.", f.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	f.refused(cluster.Update{Kind: app.OperationResize, Size: 4}, "", "Repair the cluster first")
	was := f.See("shop").Nodes[2]
	p, done := f.Carried(cluster.Update{Kind: app.OperationRepair})
	f.Want("it is replaced, and those that name it reload", harness.WorkOf(p), "n2.lb reload, n3 replaced")
	if is := f.See("shop").Nodes[2]; is.Name != was.Name || is.Hostname != was.Hostname || is.MachineID == was.MachineID {
		t.Errorf("%+v became %+v", was, is)
	}
	if slices.Index(done, "n2.lb.reload") < slices.Index(done, "n3.confirm") {
		t.Error("it was read before it was there:", done)
	}
	f.Want("the new address", fmt.Sprint(f.Configs["n2.lb.reload"]["peers"]), addresses(f.See("shop"), "n3"))
}

func TestUpdatesWaitForApproval(t *testing.T) {
	f := newWithWorker(t)
	f.Shop(3, nil)
	f.Rules(policy.Policy{Name: "big", Enabled: true, When: `kind == "resize" && nodes > 3`, Effect: policy.EffectApprove, Reason: "big",
		Approval: &policy.Approval{Count: 1, Role: app.RoleApprover}},
		policy.Policy{Name: "calm", Enabled: true, When: `kind == "stop"`, Effect: policy.EffectRefuse, Reason: "Nothing is stopped here."},
		policy.Policy{Name: "short", Enabled: true, When: `true`, Effect: policy.EffectRewrite, LeaseCap: `duration("1h")`})
	if _, err := f.Services.Operation.Updates.Update(t.Context(), f.Who, "shop", cluster.Update{Kind: app.OperationStop}); app.AsError(err).Reason != "policy" {
		t.Fatal(err)
	}
	boss := f.Actor("bob", app.RoleApprover)
	grow := cluster.Update{Kind: app.OperationResize, Size: 4}
	ask := func() cluster.Request {
		t.Helper()
		a, err := f.Services.Operation.Updates.Update(t.Context(), f.Who, "shop", grow)
		if err != nil || a.Request == nil || a.Request.Status != cluster.RequestWaiting || a.Cluster != nil {
			t.Fatalf("%+v, %v", a, err)
		}
		return *a.Request
	}
	r := ask()
	f.Want("title", r.Title(), "shop: Grow from 3 to 4 nodes")
	if p := f.Preview(grow); p.Decision == nil || p.Decision.Outcome != policy.OutcomeApprove || p.Decision.Changes != nil {
		t.Errorf("the preview says %+v", p.Decision)
	}
	_, err := f.Services.Operation.Requests.Review(t.Context(), boss, r.ID, appoperation.ReviewRequest{Verdict: cluster.VerdictConditions, PlanHash: r.Terms.PlanHash, Reason: "less", Conditions: appoperation.Conditions{Lease: time.Hour}})
	wantReason(t, err, "no_conditions")
	stale := ask()
	got, err := f.Approve(boss, r)
	if err != nil || got.Status != cluster.RequestAccepted {
		t.Fatal(got, err)
	}
	f.Work()
	v := f.See("shop")
	if v.Size != 4 || v.Operations[0].PlanHash != r.Terms.PlanHash || v.Operations[0].Requester != "ada" {
		t.Errorf("%d nodes by %+v", v.Size, v.Operations[0])
	}
	_, err = f.Approve(boss, stale)
	wantReason(t, err, "cluster_changed")
	if got, err := f.Services.Operation.Requests.Request(t.Context(), f.Who, stale.ID); err != nil || got.Status != cluster.RequestExpired {
		t.Error(got.Status, err)
	}
	grow.Size = 5
	r = ask()
	f.Catalog.Hardware["small"] = &template.HardwareType{About: template.About{Name: "small"}, Providers: map[string]template.Flavor{"cloud": {Flavor: "s", CostPerHour: 5, CPU: 2}}}
	_, err = f.Approve(boss, r)
	wantReason(t, err, "cluster_changed")
}
