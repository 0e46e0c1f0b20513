package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/template"
)

func (f *WithWorker) Definition() cluster.Definition {
	f.Helper()
	d, err := f.Store.Definition(f.Context(), f.Who.Tenant, f.See("shop").ID)
	if err != nil {
		f.Fatal(err)
	}
	return d
}

// A WithWorker is a Harness with clusters of three services, and a worker that carries out what is asked for: "lb" needs "web" needs "db".
type WithWorker struct {
	*Harness
	Who     app.Actor
	Configs map[string]map[string]any // by step: what it was last handed out with
	FailAt  string                    // a step that fails for good
	Made    int
}

// NewWithWorker opens one; its template "shop" is of the three services.
func NewWithWorker(t *testing.T) *WithWorker {
	f := &WithWorker{Harness: New(t), Configs: map[string]map[string]any{}}
	f.Who = f.Actor("ada", app.RoleUser)
	act := func(text string) *template.ServiceAction {
		return &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": text}}
	}
	service := func(name string, needs ...string) *template.Service {
		s := &template.Service{About: template.About{Name: name}, Runtime: template.Dependencies{Requires: needs}, Actions: map[app.Action]*template.ServiceAction{}}
		for _, a := range []app.Action{app.ActionInstall, app.ActionConfigure, app.ActionStart, app.ActionStop, app.ActionRemove} {
			s.Actions[a] = act(name + " " + string(a))
		}
		return s
	}
	f.Catalog.Services = map[string]*template.Service{"db": service("db"), "web": service("web", "db"), "lb": service("lb", "web"), "cache": service("cache")}
	f.Catalog.Services["lb"].Actions[app.ActionReload] = act("lb reload")
	f.Catalog.Services["lb"].Reads = []string{"peers"}
	f.Catalog.Services["db"].Reads = []string{"db"}
	one := template.ServiceConstraint{Min: 1, MinSet: true, Max: 1}
	f.Catalog.Templates["shop"] = &template.Template{About: template.About{Name: "shop"},
		Defaults: template.Defaults{Provider: "cloud", Services: []string{"db", "lb", "web"},
			Config: map[string]any{"port": 80, "peers": "%join(host.service.web,' ')%", "db": map[string]any{"size": 1, "password": "${secret:DB}"}}},
		Compatibility: template.Compatibility{Services: []string{"db", "lb", "web", "cache"}},
		Constraints: template.Constraints{Size: template.SizeRange{Min: 1, Max: 8}, CantCoexist: [][]string{{"db", "web"}, {"lb", "web"}, {"db", "lb"}},
			Services: map[string]template.ServiceConstraint{"db": one, "lb": one, "web": {Min: 1, MinSet: true, Max: template.Unlimited}}}}
	if err := f.Store.SetSecret(t.Context(), f.Actor("root", app.RoleAdmin), "DB", []byte("hunter22"), f.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	return f
}

// Work carries out all that can be, and returns the ids of the steps in the order in which they ended.
func (f *WithWorker) Work() (done []string) {
	f.Helper()
	w := app.WorkerID{Tenant: app.DefaultTenant, Name: "w"}
	for {
		claimed, err := f.Services.Execution.Coordinator.Claim(f.Context(), w, 1)
		if err != nil {
			f.Fatal(err)
		}
		if len(claimed) == 0 {
			return done
		}
		as := claimed[0]
		f.Configs[as.StepID] = as.Config
		r := execution.Report{Fence: as.Fence, Action: as.Action}
		switch as.Action {
		case app.ActionCreate:
			f.Made++
			r.Machine = &family.Machine{ID: fmt.Sprintf("m%d", f.Made), State: family.MachineRunning}
		case app.ActionConfirm:
			r.Machine = &family.Machine{ID: as.Node.MachineID, State: family.MachineRunning, Addresses: map[string]string{app.AddressBind: "10.0.0." + as.Node.MachineID[1:]}}
			r.HostKey = "key"
		}
		if as.StepID == f.FailAt {
			r.Err, r.Machine = app.Errorf(app.EScript, "it broke"), nil
		} else {
			done = append(done, as.StepID)
		}
		answers, err := f.Services.Execution.Coordinator.Report(f.Context(), w, []execution.Report{r})
		if err != nil || answers[0].Err != nil {
			f.Fatal(err, answers)
		}
	}
}

// Shop makes a cluster that exists: n1 has db or lb, and so on.
func (f *WithWorker) Shop(size int, config map[string]any) cluster.View {
	f.Helper()
	a := f.Ask(f.Who, cluster.CreateRequest{Name: "shop", Request: layout.Request{Template: "shop", Size: size}, Config: config})
	f.Work()
	return f.See(a.Cluster.ID)
}

func (f *WithWorker) See(id string) cluster.View {
	f.Helper()
	v, err := f.Services.Cluster.Views.Cluster(f.Context(), f.Who, id)
	if err != nil {
		f.Fatal(err)
	}
	return v
}

func (f *WithWorker) Preview(m cluster.Update) cluster.UpdatePreview {
	f.Helper()
	p, err := f.Services.Operation.Updates.PreviewUpdate(f.Context(), f.Who, "shop", m)
	if err != nil {
		f.Fatalf("%+v: %v", m, err)
	}
	return p
}

// Update asks for what was previewed, and checks that what was shown is what runs.
func (f *WithWorker) Update(m cluster.Update) (cluster.UpdatePreview, cluster.UpdateAnswer) {
	f.Helper()
	p := f.Preview(m)
	m.PlanHash = p.PlanHash
	a, err := f.Services.Operation.Updates.Update(f.Context(), f.Who, "shop", m)
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

// Carried updates and carries out, and expects it to have succeeded.
func (f *WithWorker) Carried(m cluster.Update) (cluster.UpdatePreview, []string) {
	f.Helper()
	p, a := f.Update(m)
	done := f.Work()
	v := f.See("shop")
	if v.Operations[0].ID != a.Operation || v.Operations[0].Status != app.OperationSucceeded || v.Status != app.ClusterActive {
		f.Fatalf("after %s the cluster is %s, its operation %+v", m.Kind, v.Status, v.Operations[0])
	}
	if len(done) != p.Plan.Acts() {
		f.Errorf("%s: %d steps were previewed and %d done: %v", m.Kind, p.Plan.Acts(), len(done), done)
	}
	return p, done
}

// WorkOf is what a preview says of each node, in words.
func WorkOf(p cluster.UpdatePreview) string {
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

func (f *WithWorker) Want(what, got, want string) {
	f.Helper()
	if got != want {
		f.Errorf("%s: %s\nwant %s", what, got, want)
	}
}
