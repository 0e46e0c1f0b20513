package app_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	appoperation "muster/app/operation"
	"muster/app/policy"
)

// farm is a bureau with clusters of three services, and a worker that carries out what is asked for: "lb" needs "web" needs "db".
type farm struct {
	*bureau
	who     app.Actor
	configs map[string]map[string]any // by step: what it was last handed out with
	fail    string                    // a step that fails for good
	made    int
}

func newFarm(t *testing.T) *farm {
	f := &farm{bureau: newBureau(t), configs: map[string]map[string]any{}}
	f.who = f.actor("ada", app.RoleUser)
	act := func(text string) *app.ServiceAction {
		return &app.ServiceAction{Automator: "shell", Fields: map[string]string{"script": text}}
	}
	service := func(name string, needs ...string) *app.Service {
		s := &app.Service{About: app.About{Name: name}, Runtime: app.Dependencies{Requires: needs}, Actions: map[app.Action]*app.ServiceAction{}}
		for _, a := range []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionStart, app.ActionStop, app.ActionRemove} {
			s.Actions[a] = act(name + " " + string(a))
		}
		return s
	}
	f.catalog.Services = map[string]*app.Service{"db": service("db"), "web": service("web", "db"), "lb": service("lb", "web"), "cache": service("cache")}
	f.catalog.Services["lb"].Actions[app.ActionReload] = act("lb reload")
	f.catalog.Services["lb"].Reads = []string{"peers"}
	f.catalog.Services["db"].Reads = []string{"db"}
	one := app.ServiceConstraint{Min: 1, MinSet: true, Max: 1}
	f.catalog.Templates["shop"] = &app.Template{About: app.About{Name: "shop"},
		Defaults: app.TemplateDefaults{Provider: "cloud", Services: []string{"db", "lb", "web"},
			Config: map[string]any{"port": 80, "peers": "%join(host.service.web,' ')%", "db": map[string]any{"size": 1, "password": "${secret:DB}"}}},
		Compatibility: app.Compatibility{Services: []string{"db", "lb", "web", "cache"}},
		Constraints: app.Constraints{Size: app.SizeRange{Min: 1, Max: 8}, CantCoexist: [][]string{{"db", "web"}, {"lb", "web"}, {"db", "lb"}},
			Services: map[string]app.ServiceConstraint{"db": one, "lb": one, "web": {Min: 1, MinSet: true, Max: app.Unlimited}}}}
	if err := f.store.SetSecret(t.Context(), f.actor("root", app.RoleAdmin), "DB", []byte("hunter22"), f.clock.Now()); err != nil {
		t.Fatal(err)
	}
	return f
}

// work carries out all that can be, and gives the ids of the steps in the order in which they ended.
func (f *farm) work() (done []string) {
	f.Helper()
	w := app.WorkerID{Tenant: app.DefaultTenant, Name: "w"}
	for {
		claimed, err := f.app.Claim(f.Context(), w, 1)
		if err != nil {
			f.Fatal(err)
		}
		if len(claimed) == 0 {
			return done
		}
		as := claimed[0]
		f.configs[as.StepID] = as.Config
		r := app.Report{Fence: as.Fence, Action: as.Action}
		switch as.Action {
		case app.ActionCreate:
			f.made++
			r.Machine = &app.Machine{ID: fmt.Sprintf("m%d", f.made), State: app.MachineRunning}
		case app.ActionConfirm:
			r.Machine = &app.Machine{ID: as.Node.MachineID, State: app.MachineRunning, Addresses: map[string]string{app.AddressBind: "10.0.0." + as.Node.MachineID[1:]}}
			r.HostKey = "key"
		}
		if as.StepID == f.fail {
			r.Err, r.Machine = app.Errorf(app.EScript, "it broke"), nil
		} else {
			done = append(done, as.StepID)
		}
		answers, err := f.app.Report(f.Context(), w, []app.Report{r})
		if err != nil || answers[0].Err != nil {
			f.Fatal(err, answers)
		}
	}
}

// shop makes a cluster that stands: n1 has db or lb, and so on.
func (f *farm) shop(size int, config map[string]any) app.ClusterView {
	f.Helper()
	a := f.ask(f.who, app.ClusterRequest{Name: "shop", LayoutRequest: app.LayoutRequest{Template: "shop", Size: size}, Config: config})
	f.work()
	return f.see(a.Cluster.ID)
}

func (f *farm) see(id string) app.ClusterView {
	f.Helper()
	v, err := f.app.Cluster(f.Context(), f.who, id)
	if err != nil {
		f.Fatal(err)
	}
	return v
}

func (f *farm) preview(m app.Amendment) app.AmendPreview {
	f.Helper()
	p, err := f.app.PreviewAmend(f.Context(), f.who, "shop", m)
	if err != nil {
		f.Fatalf("%+v: %v", m, err)
	}
	return p
}

// amend asks for what was previewed, and checks that what was shown is what runs.
func (f *farm) amend(m app.Amendment) (app.AmendPreview, app.AmendAnswer) {
	f.Helper()
	p := f.preview(m)
	m.PlanHash = p.PlanHash
	a, err := f.app.Amend(f.Context(), f.who, "shop", m)
	if err != nil {
		f.Fatalf("%+v: %v", m, err)
	}
	if a.Operation == 0 {
		return p, a
	}
	op := a.Cluster.Operations[0]
	if op.ID != a.Operation || op.PlanHash != p.PlanHash || op.Kind != m.Kind || op.Total != p.Plan.Acts() {
		f.Fatalf("what was previewed is %s with %d acts, what runs is %+v", p.PlanHash, p.Plan.Acts(), op)
	}
	return p, a
}

// carried amends and carries out, and expects it to have succeeded.
func (f *farm) carried(m app.Amendment) (app.AmendPreview, []string) {
	f.Helper()
	p, a := f.amend(m)
	done := f.work()
	v := f.see("shop")
	if v.Operations[0].ID != a.Operation || v.Operations[0].Status != app.OperationSucceeded || v.Status != app.ClusterActive {
		f.Fatalf("after %s the cluster is %s, its operation %+v", m.Kind, v.Status, v.Operations[0])
	}
	if len(done) != p.Plan.Acts() {
		f.Errorf("%s: %d steps were previewed and %d done: %v", m.Kind, p.Plan.Acts(), len(done), done)
	}
	return p, done
}

func (f *farm) refused(m app.Amendment, field, words string) {
	f.Helper()
	_, err := f.app.PreviewAmend(f.Context(), f.who, "shop", m)
	e := app.AsError(err)
	if err == nil || e.Code == app.EInternal || e.Field != field || !strings.Contains(e.Message+" "+e.Hint, words) {
		f.Errorf("%+v gives %s %q (field %q, hint %q), want field %q and %q", m, e.Code, e.Message, e.Field, e.Hint, field, words)
	}
	if _, asked := f.app.Amend(f.Context(), f.who, "shop", m); app.CodeOf(asked) != app.CodeOf(err) {
		f.Errorf("%+v: the preview says %v, the asking %v", m, err, asked)
	}
}

// nodes gives "n1: db, n2: web".
func nodesOf(v app.ClusterView) string {
	var all []string
	for _, n := range v.Nodes {
		all = append(all, n.Name+": "+strings.Join(n.Services, " "))
	}
	return strings.Join(all, ", ")
}

func workOf(p app.AmendPreview) string {
	var all []string
	for _, n := range p.Nodes {
		if n.Change != "" {
			all = append(all, n.Name+" "+string(n.Change))
		}
		for _, s := range n.Added {
			all = append(all, n.Name+"."+s+" added")
		}
		for _, s := range n.Removed {
			all = append(all, n.Name+"."+s+" removed")
		}
		for _, s := range slices.Sorted(maps.Keys(n.Work)) {
			all = append(all, n.Name+"."+s+" "+string(n.Work[s]))
		}
	}
	return strings.Join(all, ", ")
}

func (f *farm) want(what, got, want string) {
	f.Helper()
	if got != want {
		f.Errorf("%s: %s\nwant %s", what, got, want)
	}
}

func TestDiffOfAClusterThatGrew(t *testing.T) {
	f := newFarm(t)
	v := f.shop(5, map[string]any{"extra": "x"})
	created := v.Operations[0].ID
	diff := func(a, b string) string {
		d, err := f.app.DiffClusters(f.Context(), f.who, a, b)
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
	f.want("before it grew", diff(at(created), "shop"), "")
	f.carried(app.Amendment{Kind: app.OperationResize, Size: 7})
	grown := f.see("shop").Operations[0].ID
	f.want("what growth changed", diff(at(created), "shop"), "size 5>7")
	f.want("between two operations", diff(at(created), at(grown)), "size 5>7")
	f.want("since it grew", diff(at(grown), "shop"), "")
}

func TestAmendedClusterGrowsAndShrinks(t *testing.T) {
	f := newFarm(t)
	v := f.shop(3, map[string]any{"extra": "x"})
	p, _ := f.carried(app.Amendment{Kind: app.OperationResize, Size: 5})
	f.want("growth", workOf(p), "n2.lb reload, n3.web reload, n4 new, n5 new")
	if p.Before != (app.ClusterFigures{Nodes: 3, CostPerHour: 1.5}) || p.After != (app.ClusterFigures{Nodes: 5, CostPerHour: 2.5}) {
		t.Errorf("from %+v to %+v", p.Before, p.After)
	}
	v = f.see("shop")
	f.want("nodes", nodesOf(v), "n1: db, n2: lb, n3: web, n4: web, n5: web")
	if v.Size != 5 || v.CostPerHour != 2.5 {
		t.Errorf("size %d, %v an hour", v.Size, v.CostPerHour)
	}
	f.want("peers", fmt.Sprint(f.configs["n2.lb.reload"]["peers"]), peers(v, 3, 4, 5))

	p, done := f.carried(app.Amendment{Kind: app.OperationResize, Nodes: []string{"n4"}})
	f.want("shrinking", workOf(p), "n2.lb reload, n3.web reload, n4 gone, n5.web reload")
	if slices.Index(done, "n2.lb.reload") > slices.Index(done, "n4.web.stop") {
		t.Error("the balancer learns of it after the server was stopped:", done)
	}
	v = f.see("shop")
	f.want("nodes", nodesOf(v), "n1: db, n2: lb, n3: web, n5: web")
	f.want("peers", fmt.Sprint(f.configs["n2.lb.reload"]["peers"]), peers(v, 3, 5))

	f.carried(app.Amendment{Kind: app.OperationResize, Nodes: []string{"n5"}})
	f.carried(app.Amendment{Kind: app.OperationResize, Size: 4})
	f.want("numbers are not used again", nodesOf(f.see("shop")), "n1: db, n2: lb, n3: web, n6: web")
	if r, err := f.store.Reservations(t.Context(), app.DefaultTenant); err != nil || len(r) != 1 || r[0].Nodes != 4 || r[0].CPU != 8 || r[0].CostPerHour != 2 {
		t.Errorf("reserved is %+v, %v", r, err)
	}
}

func peers(v app.ClusterView, numbers ...int) string {
	var hosts []string
	for _, i := range numbers {
		hosts = append(hosts, fmt.Sprintf("%s-n%d.%s", v.ID, i, v.DNSSuffix))
	}
	return strings.Join(hosts, " ")
}

func addresses(v app.ClusterView, names ...string) string {
	var all []string
	for _, n := range v.Nodes {
		if slices.Contains(names, n.Name) {
			all = append(all, n.Address(app.AddressBind))
		}
	}
	return strings.Join(all, " ")
}

func TestAmendedConfigurationReachesWhoReadsIt(t *testing.T) {
	f := newFarm(t)
	v := f.shop(3, nil)
	p, _ := f.carried(app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"port": 81, "token": "hush"}})
	f.want("only web reads it", workOf(p), "n3.web reload")
	f.want("changes", fmt.Sprint(p.Changes), "[{config.port 80 81} {config.token  •••}]")
	f.want("the port", fmt.Sprint(f.configs["n3.web.configure"]["port"]), "81")

	p, _ = f.carried(app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"db": map[string]any{"size": 2}}, NoRestart: true})
	f.want("db reads its own key, the others do not", workOf(p), "n1.db configure")
	f.want("what stays, stays", fmt.Sprint(f.configs["n1.db.configure"]["db"]), "map[password:hunter22 size:2]")

	// The template changes meanwhile: an upgrade keeps what was asked for.
	t2 := *f.catalog.Templates["shop"]
	t2.Defaults.Config = map[string]any{"port": 90, "motd": "new", "peers": "%join(host.service.web,' ')%", "db": map[string]any{"size": 9, "password": "${secret:DB}"}}
	f.catalog.Templates["shop"] = &t2
	web := *f.catalog.Services["web"]
	web.Actions = maps.Clone(web.Actions)
	web.Actions[app.ActionStart] = &app.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "web start 2"}}
	f.catalog.Services["web"] = &web
	p, _ = f.carried(app.Amendment{Kind: app.OperationUpgrade})
	f.want("upgrade", workOf(p), "n3.web upgrade")
	f.want("changes", fmt.Sprint(p.Changes), "[{config.motd  new} {services.web.start there changed}]")
	if p.Template != "shop" {
		t.Errorf("the template is %q", p.Template)
	}
	d, err := f.store.Definition(t.Context(), app.DefaultTenant, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	f.want("configuration", fmt.Sprint(d.Config), "map[db:map[password:${secret:DB} size:2] motd:new peers:%join(host.service.web,' ')% port:81 token:hush]")

	for _, m := range []app.Amendment{{Kind: app.OperationUpgrade}, {Kind: app.OperationReconfigure, Config: map[string]any{"port": 81}},
		{Kind: app.OperationResize, Size: 3}, {Kind: app.OperationRepair}} {
		p, a := f.amend(m)
		if !p.Nothing || a.Operation != 0 || a.Cluster == nil || len(p.Notes) == 0 {
			t.Errorf("%s of what is so already: %+v, %+v", m.Kind, p, a)
		}
	}

	// What was taken out stays out, also when the template still has it.
	f.carried(app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"motd": nil}})
	if p := f.preview(app.Amendment{Kind: app.OperationUpgrade}); !p.Nothing {
		t.Errorf("an upgrade brings back what was taken out: %+v", p.Changes)
	}
}

func TestAmendedServices(t *testing.T) {
	f := newFarm(t)
	f.shop(3, nil)
	p, _ := f.carried(app.Amendment{Kind: app.OperationAddServices, Services: []string{"cache"}})
	f.want("added everywhere", workOf(p), "n1.cache added, n2.cache added, n3.cache added")
	f.want("services", fmt.Sprint(f.see("shop").Services), "[cache db lb web]")
	f.catalog.Services["cache"] = &app.Service{About: app.About{Name: "cache"}}
	p, done := f.carried(app.Amendment{Kind: app.OperationRemoveServices, Services: []string{"cache"}})
	f.want("removed", workOf(p), "n1.cache removed, n2.cache removed, n3.cache removed")
	if !slices.Contains(done, "n1.cache.remove") {
		t.Error("it is not removed by the entry that it was made by:", done)
	}
	f.want("services", fmt.Sprint(f.see("shop").Services), "[db lb web]")
	f.refused(app.Amendment{Kind: app.OperationRemoveServices, Services: []string{"db"}}, "services", "web")
}

func TestAmendedRunning(t *testing.T) {
	f := newFarm(t)
	f.shop(4, nil)
	for _, c := range []struct {
		name string
		m    app.Amendment
		work string
		note string
	}{
		{"a stop takes along what needs it", app.Amendment{Kind: app.OperationStop, Services: []string{"db"}}, "n1.db stop, n2.lb stop, n3.web stop, n4.web stop", "web comes along, since it needs db."},
		{"a start takes along what it needs", app.Amendment{Kind: app.OperationStart, Services: []string{"web"}}, "n1.db start, n3.web start, n4.web start", "db comes along, since web needs it."},
		{"all are started", app.Amendment{Kind: app.OperationStart}, "n1.db start, n2.lb start, n3.web start, n4.web start", ""},
		{"one of several is no loss for those that need it", app.Amendment{Kind: app.OperationRestart, Services: []string{"web"}, Nodes: []string{"n3"}}, "n3.web restart", ""},
		{"a node by itself", app.Amendment{Kind: app.OperationRestart, Nodes: []string{"n2"}}, "n2.lb restart", ""},
		{"a restart takes along what needs it", app.Amendment{Kind: app.OperationRestart, Services: []string{"web"}}, "n2.lb restart, n3.web restart, n4.web restart", "lb comes along, since it needs web."},
		{"one after the other, nothing comes along", app.Amendment{Kind: app.OperationRestart, Services: []string{"web"}, Batch: 1}, "n3.web restart, n4.web restart",
			"It is done on one node after the other; one that fails halts the rest."},
	} {
		p, _ := f.carried(c.m)
		f.want(c.name, workOf(p), c.work)
		if c.note != "" && !slices.Contains(p.Notes, c.note) || c.note == "" && len(p.Notes) > 0 {
			t.Errorf("%s: the notes are %q", c.name, p.Notes)
		}
	}
}

func TestAmendmentsThatAreRefused(t *testing.T) {
	f := newFarm(t)
	f.shop(3, nil)
	long := strings.Repeat("x", 600<<10)
	for _, c := range []struct {
		m            app.Amendment
		field, words string
	}{
		{app.Amendment{Kind: "grow"}, "kind", "resize"},
		{app.Amendment{Kind: app.OperationCreate}, "kind", "One of"},
		{app.Amendment{Kind: app.OperationResize}, "size", "how many"},
		{app.Amendment{Kind: app.OperationResize, Size: -1}, "size", "between"},
		{app.Amendment{Kind: app.OperationResize, Size: 9}, "size", "8"},
		{app.Amendment{Kind: app.OperationResize, Size: 4, Services: []string{"web"}}, "services", "does not count"},
		{app.Amendment{Kind: app.OperationResize, Nodes: []string{"n9"}}, "nodes", "Did you mean"},
		{app.Amendment{Kind: app.OperationResize, Nodes: []string{"n3"}}, "nodes", "web would be on no node"},
		{app.Amendment{Kind: app.OperationResize, Nodes: []string{"n3"}, Size: 1}, "size", "there are 2, not 1"},
		{app.Amendment{Kind: app.OperationResize, Nodes: []string{"n1", "n2", "n3"}}, "nodes", "Delete the cluster"},
		{app.Amendment{Kind: app.OperationAddServices}, "services", "which services"},
		{app.Amendment{Kind: app.OperationAddServices, Services: []string{"cahce"}}, "services", "Did you mean cache?"},
		{app.Amendment{Kind: app.OperationAddServices, Services: []string{"web"}}, "services", "already"},
		{app.Amendment{Kind: app.OperationRemoveServices, Services: []string{"wbe"}}, "services", "Did you mean web?"},
		{app.Amendment{Kind: app.OperationRemoveServices, Services: []string{"web", "web"}}, "services", "twice"},
		{app.Amendment{Kind: app.OperationRemoveServices, Services: []string{"web", "db", "lb"}}, "services", "No service"},
		{app.Amendment{Kind: app.OperationReconfigure}, "config", "otherwise"},
		{app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"a": "${secret:DB}"}}, "config", "secrets"},
		{app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"a": long}}, "config", "KiB"},
		{app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"a": "%nonsense%x"}}, "config.a", "not a macro"},
		{app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"a": "%host.service.web[3]%"}}, "config.a", "number 4"},
		{app.Amendment{Kind: app.OperationRestart, Services: []string{"web"}, Nodes: []string{"n1"}}, "services", "It is on n3"},
		{app.Amendment{Kind: app.OperationRestart, Batch: -1}, "batch", "between"},
		{app.Amendment{Kind: app.OperationStop, Batch: 2}, "batch", "does not count"},
		{app.Amendment{Kind: app.OperationRepair, OnFailure: app.FailureRollBack}, "on_failure", "cannot be rolled back"},
		{app.Amendment{Kind: app.OperationRestart, OnFailure: "panic"}, "on_failure", "roll_back"},
		{app.Amendment{Kind: app.OperationRepair, Nodes: []string{"m1"}}, "nodes", "Did you mean n1?"},
	} {
		f.refused(c.m, c.field, c.words)
	}
	f.catalog.Templates = map[string]*app.Template{}
	f.refused(app.Amendment{Kind: app.OperationResize, Size: 4, TopUp: true}, "top_up", "Leave it out")
	f.refused(app.Amendment{Kind: app.OperationResize, Size: 4}, "", "not in the catalog any more")
	f.refused(app.Amendment{Kind: app.OperationUpgrade}, "", "not in the catalog any more")
	f.carried(app.Amendment{Kind: app.OperationRestart})
	f.carried(app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"port": 1}})
	if _, err := f.app.Amend(t.Context(), f.who, "shop", app.Amendment{Kind: app.OperationRestart, PlanHash: "other"}); app.AsError(err).Reason != "plan_changed" {
		t.Error("another plan than was shown:", err)
	}
	if _, err := f.app.Amend(t.Context(), f.actor("bob", app.RoleUser), "shop", app.Amendment{Kind: app.OperationRestart}); app.CodeOf(err) != app.ENotFound {
		t.Error("somebody else's cluster:", err)
	}
	f.amend(app.Amendment{Kind: app.OperationRestart})
	f.refused(app.Amendment{Kind: app.OperationRestart}, "", "is running")
}

func TestAmendedAfterFailure(t *testing.T) {
	f := newFarm(t)
	f.shop(3, map[string]any{"peers": "%join(ip.service.web,' ')%"})
	f.fail = "n4.web.start"
	f.amend(app.Amendment{Kind: app.OperationResize, Size: 5})
	f.work()
	if v := f.see("shop"); v.Status != app.ClusterFailed {
		t.Fatal("the cluster is", v.Status)
	}
	for _, kind := range []app.OperationKind{app.OperationRestart, app.OperationUpgrade} {
		f.refused(app.Amendment{Kind: kind}, "", "Resume it, roll it back, change the configuration, repair the cluster or delete the cluster")
	}
	f.fail = ""
	p, _ := f.carried(app.Amendment{Kind: app.OperationRepair, Nodes: []string{"n4"}})
	f.want("what was left undone is done with it", workOf(p), "n2.lb reload, n3.web reload, n4 replaced, n5.web reload")
	f.want("nodes", nodesOf(f.see("shop")), "n1: db, n2: lb, n3: web, n4: web, n5: web")
	f.want("addresses", fmt.Sprint(f.configs["n2.lb.reload"]["peers"]), addresses(f.see("shop"), "n3", "n4", "n5"))

	// Rolled back, all is as it was.
	before := f.see("shop")
	f.fail = "n6.web.start"
	f.amend(app.Amendment{Kind: app.OperationResize, Size: 6, OnFailure: app.FailureRollBack})
	f.work()
	f.fail = ""
	if n, err := f.app.UndoFailed(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	f.work()
	after := f.see("shop")
	if after.Status != app.ClusterActive || after.Size != before.Size || after.CostPerHour != before.CostPerHour {
		t.Errorf("rolled back, it is %s with %d nodes", after.Status, after.Size)
	}
	f.want("nodes", nodesOf(after), nodesOf(before))

	// The configuration too.
	f.fail = "n3.web.start"
	f.amend(app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"port": 99}})
	f.work()
	f.fail = ""
	if _, err := f.app.RollBack(t.Context(), f.who, "shop", 0, ""); err != nil {
		t.Fatal(err)
	}
	f.work()
	f.want("the port is", fmt.Sprint(f.configs["n3.web.configure"]["port"]), "80")
	d, err := f.store.Definition(t.Context(), app.DefaultTenant, after.ID)
	if err != nil || fmt.Sprint(d.Config["port"]) != "80" {
		t.Errorf("%v, %v", d.Config, err)
	}
}

func TestAmendedAfterACancelledRestart(t *testing.T) {
	f := newFarm(t)
	f.shop(3, nil)
	_, a := f.amend(app.Amendment{Kind: app.OperationRestart})
	if _, err := f.app.CancelOperation(t.Context(), f.who, "shop", a.Operation, false); err != nil {
		t.Fatal(err)
	}
	f.refused(app.Amendment{Kind: app.OperationResize, Size: 4}, "", "The restart of cluster \"shop\" was cancelled")
	p := f.preview(app.Amendment{Kind: app.OperationRepair})
	f.want("a repair does what was left", workOf(p), "n1.db restart, n2.lb restart, n3.web restart")
	f.carried(app.Amendment{Kind: app.OperationStart})
}

// Where nothing but names is left to do, a repair does that, and once they are written there is nothing.
func TestNamesThatWereNotWritten(t *testing.T) {
	f := newFarm(t)
	f.shop(3, nil)
	f.fail = "n2.names"
	f.amend(app.Amendment{Kind: app.OperationResize, Size: 4})
	f.work()
	f.fail = ""
	if v := f.see("shop"); v.Status != app.ClusterFailed {
		t.Fatalf("it is %s", v.Status)
	}
	p := f.preview(app.Amendment{Kind: app.OperationRepair})
	f.want("notes", strings.Join(p.Notes, " "), "The names of all nodes are written on each of them, as the resize did not get that far.")
	_, done := f.carried(app.Amendment{Kind: app.OperationRepair})
	slices.Sort(done)
	f.want("a repair writes them", strings.Join(done, " "), "n1.names n2.names n3.names n4.names")
	if p := f.preview(app.Amendment{Kind: app.OperationRepair}); !p.Nothing {
		t.Errorf("and again it does %+v", p)
	}
}

func TestAmendedLostMachine(t *testing.T) {
	f := newFarm(t)
	v := f.shop(3, map[string]any{"peers": "%join(ip.service.web,' ')%"})
	if err := f.store.MarkLost(t.Context(), app.DefaultTenant, v.ID, "Lost machines: n3. The cluster counts as active again.", f.clock.Now()); err != nil {
		t.Fatal(err)
	}
	f.refused(app.Amendment{Kind: app.OperationResize, Size: 4}, "", "Repair the cluster first")
	was := f.see("shop").Nodes[2]
	p, done := f.carried(app.Amendment{Kind: app.OperationRepair})
	f.want("it is made anew, and who names it reads anew", workOf(p), "n2.lb reload, n3 replaced")
	if is := f.see("shop").Nodes[2]; is.Name != was.Name || is.Hostname != was.Hostname || is.MachineID == was.MachineID {
		t.Errorf("%+v became %+v", was, is)
	}
	if slices.Index(done, "n2.lb.reload") < slices.Index(done, "n3.confirm") {
		t.Error("it was read before it was there:", done)
	}
	f.want("the new address", fmt.Sprint(f.configs["n2.lb.reload"]["peers"]), addresses(f.see("shop"), "n3"))
}

func TestAmendmentsWaitForApproval(t *testing.T) {
	f := newFarm(t)
	f.shop(3, nil)
	f.rules(policy.Policy{Name: "big", Enabled: true, When: `kind == "resize" && nodes > 3`, Effect: policy.PolicyApprove, Reason: "big",
		Approval: &app.Approval{Count: 1, Role: app.RoleApprover}},
		policy.Policy{Name: "calm", Enabled: true, When: `kind == "stop"`, Effect: policy.PolicyRefuse, Reason: "Nothing is stopped here."},
		policy.Policy{Name: "short", Enabled: true, When: `true`, Effect: policy.PolicyRewrite, LeaseCap: `duration("1h")`})
	if _, err := f.app.Amend(t.Context(), f.who, "shop", app.Amendment{Kind: app.OperationStop}); app.AsError(err).Reason != "policy" {
		t.Fatal(err)
	}
	boss := f.actor("bob", app.RoleApprover)
	grow := app.Amendment{Kind: app.OperationResize, Size: 4}
	ask := func() app.Request {
		t.Helper()
		a, err := f.app.Amend(t.Context(), f.who, "shop", grow)
		if err != nil || a.Request == nil || a.Request.Status != app.RequestWaiting || a.Cluster != nil {
			t.Fatalf("%+v, %v", a, err)
		}
		return *a.Request
	}
	r := ask()
	f.want("title", r.Title(), "shop: Grow from 3 to 4 nodes")
	if p := f.preview(grow); p.Decision == nil || p.Decision.Outcome != app.OutcomeApprove || p.Decision.Changes != nil {
		t.Errorf("the preview says %+v", p.Decision)
	}
	_, err := f.app.Review(t.Context(), boss, r.ID, appoperation.ReviewRequest{Verdict: app.VerdictConditions, PlanHash: r.Terms.PlanHash, Reason: "less", Conditions: appoperation.Conditions{Lease: time.Hour}})
	wantReason(t, err, "no_conditions")
	stale := ask()
	got, err := f.approve(boss, r)
	if err != nil || got.Status != app.RequestAccepted {
		t.Fatal(got, err)
	}
	f.work()
	v := f.see("shop")
	if v.Size != 4 || v.Operations[0].PlanHash != r.Terms.PlanHash || v.Operations[0].Requester != "ada" {
		t.Errorf("%d nodes by %+v", v.Size, v.Operations[0])
	}
	_, err = f.approve(boss, stale)
	wantReason(t, err, "cluster_changed")
	if got, err := f.app.Request(t.Context(), f.who, stale.ID); err != nil || got.Status != app.RequestExpired {
		t.Error(got.Status, err)
	}
	grow.Size = 5
	r = ask()
	f.catalog.Hardware["small"] = &app.HardwareType{About: app.About{Name: "small"}, Providers: map[string]app.Flavor{"cloud": {Flavor: "s", CostPerHour: 5, CPU: 2}}}
	_, err = f.approve(boss, r)
	wantReason(t, err, "cluster_changed")
}
