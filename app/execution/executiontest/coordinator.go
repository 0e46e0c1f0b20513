package executiontest

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/store"
	"muster/app/template"
)

// Setup is a coordinator as a suite tries it: over which way ever, it leads to this app.
type Setup struct {
	Services    *appall.Services
	Provisioner string // a registration that is alive
	// Of returns the contract as a worker of that tenant has it.
	Of func(tenant string) execution.Coordinator
}

// suiteSettings are what the suite's provider is set up with.
var suiteSettings = map[string]any{"text": "sesame", "number": 8, "part": 0.5, "on": true, "list": []any{1, "two"}, "map": map[string]any{"depth": 2}}

// SuiteCatalog is the catalog of the app that a Setup leads to.
func SuiteCatalog() *template.Catalog {
	c := template.NewCatalog()
	c.Providers["cloud"] = &template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "fake", Settings: suiteSettings}
	return c
}

// CoordinatorSuite is what every way to the coordinator passes. open returns the setup of a fresh app; its store is at hand.
func CoordinatorSuite(t *testing.T, open func(t *testing.T) (Setup, *store.Store)) {
	for _, c := range []struct {
		name string
		test func(*coordinatorTest)
	}{
		{"an assignment holds all that the step needs", (*coordinatorTest).assignment},
		{"a report ends a step and returns the node's next one", (*coordinatorTest).chain},
		{"a report whose answer was lost is answered again", (*coordinatorTest).lostAnswer},
		{"errors keep their meaning", (*coordinatorTest).errors},
		{"heartbeats say what is lost", (*coordinatorTest).heartbeat},
		{"a worker cannot touch another tenant's steps", (*coordinatorTest).tenants},
		{"messages have limits", (*coordinatorTest).limits},
		{"rounds of health checks go to one worker of the tenant", (*coordinatorTest).rounds},
	} {
		t.Run(c.name, func(t *testing.T) {
			desk, store := open(t)
			c.test(&coordinatorTest{T: t, Setup: desk, store: store, ctx: t.Context()})
		})
	}
}

type coordinatorTest struct {
	*testing.T
	Setup
	store *store.Store
	ctx   context.Context
}

func (t *coordinatorTest) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t *coordinatorTest) code(err error, want app.Code) {
	t.Helper()
	if got := app.CodeOf(err); got != want {
		t.Fatalf("error %v has code %q, want %q", err, got, want)
	}
}

func (t *coordinatorTest) worker(tenant string) (execution.Coordinator, app.WorkerID) {
	return t.Of(tenant), app.WorkerID{Tenant: tenant, Name: fleet.NewWorkerName(t.Provisioner)}
}

func (t *coordinatorTest) cluster(tenant string, nodes int) {
	t.Helper()
	n := apptest.NewCluster(tenant, "c-"+tenant, nodes, t.Services.Execution.Coordinator.Now(), apptest.Chain(nodes))
	start := &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}, Timeout: time.Minute}
	for _, s := range []string{"a", "b"} {
		n.Definition.Services[s] = &template.Service{About: template.About{Name: s}, Actions: map[app.Action]*template.ServiceAction{app.ActionStart: start}}
	}
	_, err := t.store.CreateCluster(t.ctx, n)
	t.must(err)
}

func (t *coordinatorTest) claim(c execution.Coordinator, w app.WorkerID) *execution.Assignment {
	t.Helper()
	all, err := c.Claim(t.ctx, w, 1)
	t.must(err)
	if len(all) != 1 {
		t.Fatalf("%d steps were claimed, want 1", len(all))
	}
	return all[0]
}

func success(as *execution.Assignment) execution.Report {
	r := execution.Report{Fence: as.Fence, Action: as.Action, WantNext: true}
	if as.Action == app.ActionCreate || as.Action == app.ActionConfirm {
		r.Machine = &family.Machine{ID: "m-" + as.Node.Name, State: family.MachineRunning, Addresses: map[string]string{app.AddressAccess: "10.0.0.1"}}
	}
	return r
}

func (t *coordinatorTest) report(c execution.Coordinator, w app.WorkerID, r execution.Report) execution.Reported {
	t.Helper()
	answers, err := c.Report(t.ctx, w, []execution.Report{r})
	t.must(err)
	if len(answers) != 1 {
		t.Fatalf("%d answers to one report", len(answers))
	}
	return answers[0]
}

func (t *coordinatorTest) assignment() {
	t.cluster("t1", 1)
	c, w := t.worker("t1")
	as := t.claim(c, w)
	if as.Action != app.ActionCreate || as.Tenant != "t1" || as.Worker != w.Name || as.Fence.Attempt != 1 {
		t.Errorf("%+v", as)
	}
	if !reflect.DeepEqual(as.Provider.Settings, suiteSettings) {
		t.Errorf("settings: %#v", as.Provider.Settings)
	}
	if as.Machine.Tags[family.TagTenant] != "t1" || as.Machine.Intent == "" || string(as.Machine.HostKey) != "host key of n1" || as.Timeout <= 0 {
		t.Errorf("machine: %+v", as.Machine)
	}
	for as.Action.OnMachine() {
		if as = t.report(c, w, success(as)).Next; as == nil {
			t.Fatal("the chain ends before the services")
		}
	}
	if string(as.SSHKey) != "the cluster's private key" || as.Config["port"] != "80" || as.Call == nil || as.Call.Fields["script"] != "true" || as.HostsHash == "" {
		t.Errorf("%+v", as)
	}
	hosts, err := c.Hosts(t.ctx, w, as.Fence)
	t.must(err)
	if len(hosts) != 1 || hosts[0].Address != "10.0.0.1" {
		t.Errorf("hosts: %+v", hosts)
	}
	t.must(c.Log(t.ctx, w, []app.LogLine{{At: t.Services.Execution.Coordinator.Now(), Operation: as.Fence.Operation, Index: as.Fence.Index,
		Attempt: as.Fence.Attempt,
		Stream:  family.StreamOut, Text: "a line\u2028 of <text> \x01"}}))
	lines, err := t.store.Logs(t.ctx, "t1", "c-t1-1", cluster.LogFilter{Limit: 10})
	t.must(err)
	if len(lines) != 1 || !strings.HasPrefix(lines[0].Text, "a line\u2028 of <text>") {
		t.Errorf("lines: %+v", lines)
	}
}

func (t *coordinatorTest) chain() {
	t.cluster("t1", 2)
	c, w := t.worker("t1")
	all, err := c.Claim(t.ctx, w, 10)
	t.must(err)
	if len(all) != 2 {
		t.Fatalf("%d steps were claimed, want 2", len(all))
	}
	var ids []string
	for len(all) > 0 {
		as := all[0]
		all = all[1:]
		for as != nil {
			ids = append(ids, as.StepID)
			as = t.report(c, w, success(as)).Next
		}
		if len(all) == 0 {
			all, err = c.Claim(t.ctx, w, 10)
			t.must(err)
		}
	}
	if len(ids) != 8 {
		t.Errorf("carried out: %v", ids)
	}
}

func (t *coordinatorTest) lostAnswer() {
	t.cluster("t1", 1)
	c, w := t.worker("t1")
	r := success(t.claim(c, w))
	first := t.report(c, w, r)
	again := t.report(c, w, r)
	if first.Next == nil || again.Next == nil || first.Next.Fence != again.Next.Fence {
		t.Errorf("first %+v, then %+v", first.Next, again.Next)
	}
}

func (t *coordinatorTest) errors() {
	t.cluster("t1", 1)
	c, w := t.worker("t1")
	as := t.claim(c, w)
	old := as.Fence
	old.Attempt = 99
	if e := t.report(c, w, execution.Report{Fence: old}).Err; e == nil || e.Code != app.EStale || e.Message == "" {
		t.Errorf("an old fence: %+v", e)
	}
	_, err := c.Hosts(t.ctx, w, old)
	t.code(err, app.EStale)
	if e := app.AsError(err); e.Message == "" || strings.Contains(e.Error(), "internal") {
		t.Errorf("%+v", e)
	}
	cause := &app.Error{Code: app.ECapacity, Reason: "full", Message: "There is no room.", Hint: "Wait.", RetryAfter: time.Second, Err: context.DeadlineExceeded}
	if e := t.report(c, w, execution.Report{Fence: as.Fence, Action: as.Action, Err: cause}).Err; e != nil {
		t.Fatal(e)
	}
	steps, err := t.store.Steps(t.ctx, "t1", as.Fence.Operation)
	t.must(err)
	if s := steps[0]; s.State != app.StepFailed || s.ErrorCode != app.ECapacity || !strings.HasPrefix(s.Error, "There is no room: timed out") {
		t.Errorf("%+v", s)
	}
}

func (t *coordinatorTest) heartbeat() {
	t.cluster("t1", 1)
	c, w := t.worker("t1")
	as := t.claim(c, w)
	other := as.Fence
	other.Attempt++
	d, err := c.Heartbeat(t.ctx, w, []app.Fence{as.Fence, other})
	t.must(err)
	if len(d) != 2 || d[0].Lost || d[0].Fence != as.Fence || !d[0].Deadline.After(t.Services.Execution.Coordinator.Now()) || !d[1].Lost {
		t.Errorf("%+v", d)
	}
}

func (t *coordinatorTest) tenants() {
	t.cluster("t1", 1)
	t.cluster("t2", 1)
	mine, me := t.worker("t1")
	theirs, they := t.worker("t2")
	as := t.claim(mine, me)
	t.claim(theirs, they)
	// As the other tenant's worker, and as one's own under the other's name.
	for name, who := range map[string]struct {
		c execution.Coordinator
		w app.WorkerID
	}{
		"with its own token":                {theirs, they},
		"under my worker's name":            {theirs, app.WorkerID{Tenant: "t2", Name: me.Name}},
		"under my tenant":                   {theirs, app.WorkerID{Tenant: "t1", Name: they.Name}},
		"under my tenant and my name":       {theirs, me},
		"under the name of nobody's":        {theirs, app.WorkerID{Tenant: "t1", Name: "nobody:abcdefghij"}},
		"without a name, under my tenant":   {theirs, app.WorkerID{Tenant: "t1"}},
		"another worker of my own tenant":   {mine, app.WorkerID{Tenant: "t1", Name: fleet.NewWorkerName(t.Provisioner)}},
		"under no tenant, with my own name": {mine, app.WorkerID{Name: me.Name}},
	} {
		if all, err := who.c.Claim(t.ctx, who.w, 10); err == nil && len(all) > 0 {
			t.Errorf("%s: claimed %d steps", name, len(all))
		} else if code := app.CodeOf(err); code != "" && code != app.EForbidden {
			t.Errorf("%s: claim: %v", name, err)
		}
		if d, err := who.c.Heartbeat(t.ctx, who.w, []app.Fence{as.Fence}); err == nil && !d[0].Lost || err != nil && app.CodeOf(err) != app.EForbidden {
			t.Errorf("%s: heartbeat: %+v %v", name, d, err)
		}
		if done, err := who.c.Report(t.ctx, who.w, []execution.Report{success(as)}); err == nil && (done[0].Err == nil || done[0].Err.Code != app.EStale || done[0].Next != nil) || err != nil && app.CodeOf(err) != app.EForbidden {
			t.Errorf("%s: report: %+v %v", name, done, err)
		}
		if hosts, err := who.c.Hosts(t.ctx, who.w, as.Fence); err == nil || len(hosts) > 0 {
			t.Errorf("%s: hosts: %+v", name, hosts)
		}
		if who.w.Tenant != "t1" || who.c != mine { // a tenant's own workers are trusted with its own log
			_ = who.c.Log(t.ctx, who.w, []app.LogLine{{Operation: as.Fence.Operation, Index: as.Fence.Index, Attempt: as.Fence.Attempt, Text: "forged"}})
		}
	}
	if lines, err := t.store.Logs(t.ctx, "t1", "c-t1-1", cluster.LogFilter{Limit: 10}); err != nil || len(lines) > 0 {
		t.Errorf("lines: %+v %v", lines, err)
	}
	if d, err := mine.Heartbeat(t.ctx, me, []app.Fence{as.Fence}); err != nil || d[0].Lost {
		t.Errorf("I lost what I held: %+v %v", d, err)
	}
}

func (t *coordinatorTest) limits() {
	c, w := t.worker("t1")
	_, err := c.Report(t.ctx, w, make([]execution.Report, execution.MaxClaims+1))
	t.code(err, app.ETooLarge)
	_, err = c.Heartbeat(t.ctx, w, make([]app.Fence, execution.MaxHeld+1))
	t.code(err, app.ETooLarge)
	t.code(c.Log(t.ctx, w, make([]app.LogLine, execution.MaxLogs+1)), app.ETooLarge)
}
