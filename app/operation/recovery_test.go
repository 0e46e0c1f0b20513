package operation_test

import (
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest/harness"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/operation"
	"muster/app/sharing"
	"muster/app/store/db"
	"muster/app/template"
)

var everyFailure = flag.Bool("every-failure", false, "break each operation at each step, not only at every ninth")

// failureSim is a harness whose machines fail: what is to be done on one that is gone fails, as does what is to be done on one that is stopped.
type failureSim struct {
	*withWorker
	machines map[string]bool                  // by id: whether it runs; what is gone is not in it
	on       map[string]map[string]*installed // by machine: the services that were set up on it
	known    map[string]map[string]string     // by machine: the names in its hosts file, with their addresses
	done     int                              // steps carried out since the operation began
	at       int                              // the step before which it goes wrong; -1: never
	kill     string                           // the node that dies then; "": the step itself fails
	hit      bool                             // it went wrong
}

// newFailureSim has no clusters.
func newFailureSim(t *testing.T) *failureSim {
	return &failureSim{withWorker: newWithWorker(t), machines: map[string]bool{},
		on: map[string]map[string]*installed{}, known: map[string]map[string]string{}, at: -1}
}

// installed is a service as it was set up on a machine.
type installed struct {
	runs   bool
	config map[string]any // that it runs by, or will when it starts
}

// serve carries out what is done to services.
func (r *failureSim) serve(as *execution.Assignment) {
	on := r.on[as.Node.MachineID]
	if on == nil {
		on = map[string]*installed{}
		r.on[as.Node.MachineID] = on
	}
	s := on[as.Service]
	if s == nil && as.Action != app.ActionInstall && as.Action != app.ActionStop && as.Action != app.ActionRemove {
		r.Errorf("%s: %s is not on the machine", as.StepID, as.Service)
		return
	}
	switch as.Action {
	case app.ActionInstall:
		if s == nil {
			on[as.Service] = &installed{}
		}
	case app.ActionConfigure:
		s.config = as.Config
	case app.ActionStart:
		s.runs = true
	case app.ActionStop:
		if s != nil {
			s.runs = false
		}
	case app.ActionRemove:
		delete(on, as.Service)
	}
}

// tell writes names into the machine's hosts file as workers do.
func (r *failureSim) tell(as *execution.Assignment) {
	known := r.known[as.Node.MachineID]
	if known == nil || as.HostsWhole {
		known = map[string]string{}
	}
	for _, h := range as.Hosts {
		maps.DeleteFunc(known, func(_, address string) bool { return address == h.Address })
		known[h.Names[0]] = h.Address
	}
	r.known[as.Node.MachineID] = known
}

// wrong says what of the services of a cluster, or of the names that its machines know, is not as it should be; "" for nothing.
func (r *failureSim) wrong(v cluster.View) (wrong string) {
	d, err := r.Store.Definition(r.Context(), v.Tenant, v.ID)
	if err != nil {
		r.Fatal(err)
	}
	var webs []string
	there := map[string]string{}
	for _, n := range v.Nodes {
		if there[n.Hostname] = n.Address(app.AddressBind); len(v.Nodes) > 1 {
			defer func() {
				if known := r.known[n.MachineID]; !maps.Equal(known, there) {
					wrong += fmt.Sprintf(" %s knows %v, not %v;", n.Name, known, there)
				}
			}()
		}
		if slices.Contains(n.Services, "web") {
			webs = append(webs, n.Hostname)
		}
	}
	for _, n := range v.Nodes {
		on := r.on[n.MachineID]
		if len(on) != len(n.Services) {
			wrong += fmt.Sprintf(" %s has %v, not %v;", n.Name, slices.Sorted(maps.Keys(on)), n.Services)
		}
		for _, s := range n.Services {
			is := on[s]
			switch {
			case is == nil:
				wrong += fmt.Sprintf(" %s is not on %s;", s, n.Name)
			case is.runs == slices.Contains(n.Stopped, s):
				wrong += fmt.Sprintf(" %s on %s runs: %v;", s, n.Name, is.runs)
			case (s == "web" || s == "cache") && fmt.Sprint(is.config["port"]) != fmt.Sprint(d.Config["port"]):
				wrong += fmt.Sprintf(" %s on %s has the port %v, not %v;", s, n.Name, is.config["port"], d.Config["port"])
			case s == "lb" && is.config["peers"] != strings.Join(webs, " "):
				wrong += fmt.Sprintf(" lb on %s has the peers %v, not %v;", n.Name, is.config["peers"], webs)
			}
		}
	}
	return wrong
}

// carry carries out all that can be, and notices afterwards which machines are gone, as the reconciler does.
func (r *failureSim) carry() {
	r.Helper()
	w := app.WorkerID{Tenant: app.DefaultTenant, Name: "w"}
	for {
		claimed, err := r.Services.Execution.Coordinator.Claim(r.Context(), w, 1)
		if err != nil {
			r.Fatal(err)
		}
		if len(claimed) == 0 {
			break
		}
		as := claimed[0]
		report := execution.Report{Fence: as.Fence, Action: as.Action}
		if r.done == r.at {
			r.strike(as, &report)
		}
		r.done++
		if report.Err == nil {
			r.act(as, &report)
		}
		answers, err := r.Services.Execution.Coordinator.Report(r.Context(), w, []execution.Report{report})
		if err != nil || answers[0].Err != nil {
			r.Fatal(err, answers)
		}
	}
	r.notice()
}

// strike lets it go wrong, once.
func (r *failureSim) strike(as *execution.Assignment, report *execution.Report) {
	r.at = -1
	if r.kill == "" {
		r.hit, report.Err = true, app.Errorf(app.EScript, "it broke")
		return
	}
	for _, n := range r.nodes() {
		if _, there := r.machines[n.MachineID]; n.Name == r.kill && there {
			r.hit = true
			delete(r.machines, n.MachineID)
		}
	}
}

func (r *failureSim) act(as *execution.Assignment, report *execution.Report) {
	id := as.Node.MachineID
	runs, there := r.machines[id]
	gone := app.Errorf(app.ENotFound, "The machine of %s is gone.", as.Node.Name)
	switch as.Action {
	case app.ActionCreate:
		r.Made++
		id = fmt.Sprintf("m%d", r.Made)
		r.machines[id] = true
		report.Machine = &family.Machine{ID: id, State: family.MachineRunning}
	case app.ActionDelete:
		delete(r.machines, id)
	case app.ActionSleep:
		if !there {
			report.Err = gone
			return
		}
		r.machines[id] = false
	case app.ActionWake:
		if !there {
			report.Err = gone
			return
		}
		r.machines[id] = true
		report.Machine = r.running(id)
	case app.ActionConfirm:
		if !runs {
			report.Err = gone
			return
		}
		report.Machine, report.HostKey = r.running(id), "key"
	default:
		if !runs {
			report.Err = app.Errorf(app.ETransient, "%s does not answer.", as.Node.Name)
			return
		}
		if as.Hosts != nil {
			r.tell(as)
		}
		if as.Service != "" {
			r.serve(as)
		}
	}
}

func (r *failureSim) running(id string) *family.Machine {
	return &family.Machine{ID: id, State: family.MachineRunning, Addresses: map[string]string{app.AddressBind: "10.0.0." + id[1:]}}
}

func (r *failureSim) nodes() []app.Node { return r.See("shop").Nodes }

// notice marks what is gone as the reconciler does.
func (r *failureSim) notice() {
	r.Helper()
	list, err := r.Services.Cluster.Views.Clusters(r.Context(), r.Who, app.ClusterFilter{Name: "shop"})
	if err != nil {
		r.Fatal(err)
	}
	if len(list) == 0 {
		return // it is gone
	}
	var lost []string
	for _, n := range r.nodes() {
		if _, there := r.machines[n.MachineID]; n.MachineID != "" && n.Status != app.NodeDeleted && !there {
			lost = append(lost, n.Name)
		}
	}
	if len(lost) == 0 {
		return
	}
	id := list[0].ID
	if _, err := r.Store.MarkNodes(r.Context(), app.DefaultTenant, id, lost, nil, r.Clock.Now()); err != nil {
		r.Fatal(err)
	}
	if list[0].Status == app.ClusterActive {
		if err := r.Store.MarkLost(r.Context(), app.DefaultTenant, id, operation.LostWords(lost), r.Clock.Now()); err != nil {
			r.Fatal(err)
		}
	}
}

// follow takes a way on. It tells false where that has to be worked out first, and cannot be: only the solver knows.
func (r *failureSim) follow(v cluster.View, way cluster.RecoveryKind) bool {
	r.Helper()
	var err error
	switch way {
	case cluster.RecoveryResume:
		_, err = r.Services.Operation.Controls.ResumeOperation(r.Context(), r.Who, v.ID, 0)
	case cluster.RecoveryRepair:
		_, err = r.Services.Operation.Updates.Update(r.Context(), r.Who, v.ID, cluster.Update{Kind: app.OperationRepair})
	case cluster.RecoveryRollBack:
		_, err = r.Services.Operation.RollBacks.RollBack(r.Context(), r.Who, v.ID, 0, "", "")
	case cluster.RecoveryReconfigure:
		_, err = r.Services.Operation.Updates.Update(r.Context(), r.Who, v.ID, cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": 9000 + r.Made}})
	case cluster.RecoveryAcceptPartial:
		_, err = r.Services.Operation.Partials.AcceptPartial(r.Context(), r.Who, v.ID, 0, "", template.PartialOverride{NoBackfill: true})
		if e := app.AsError(err); err != nil && e.Reason == "partial_unacceptable" {
			return false
		}
	case cluster.RecoveryWake:
		_, err = r.Services.Operation.Sleeping.WakeCluster(r.Context(), r.Who, v.ID, "")
	case cluster.RecoveryDelete:
		_, err = r.Services.Cluster.Deletes.DeleteCluster(r.Context(), r.Who, v.ID)
	}
	if err != nil {
		r.Fatalf("%s was offered and is refused: %v (%s)", way, err, app.AsError(err).Hint)
	}
	r.carry()
	return true
}

// checkActions checks that what is offered isn't refused for the state that the cluster is in, and the other way round; and that what an
// operation left undone is counted as its steps say.
func (r *failureSim) checkActions(where string, v cluster.View) {
	r.Helper()
	refused := func(m cluster.Update) bool {
		_, err := r.Services.Operation.Updates.PreviewUpdate(r.Context(), r.Who, v.ID, m)
		return err != nil && slices.Contains([]string{"cluster_failed", "cluster_asleep", "cluster_deleted", "cluster_pending", "operation_running", "lost_machines", "no_nodes"}, app.AsError(err).Reason)
	}
	for _, m := range []cluster.Update{{Kind: app.OperationResize, Size: 5}, {Kind: app.OperationAddServices, Services: []string{"cache"}},
		{Kind: app.OperationRemoveServices, Services: []string{"cache"}}, {Kind: app.OperationReconfigure, Config: map[string]any{"port": 4711}},
		{Kind: app.OperationStart}, {Kind: app.OperationStop}, {Kind: app.OperationRestart}, {Kind: app.OperationUpgrade}, {Kind: app.OperationRepair}} {
		if offered := slices.Contains(v.Actions.Cluster, m.Kind); offered == refused(m) {
			r.Errorf("%s: %s is offered: %v, in %+v", where, m.Kind, offered, v.Problem)
		}
		if len(v.Nodes) == 0 || m.Size > 0 || len(m.Services)+len(m.Config) > 0 || m.Kind == app.OperationUpgrade {
			continue
		}
		for _, n := range v.Nodes {
			m.Nodes = []string{n.Name}
			if offered := slices.Contains(v.Actions.On(n), m.Kind); offered && refused(m) || !offered && !n.Leaving && n.Status != app.NodeDeleted && !refused(m) {
				r.Errorf("%s: %s on %s (lost: %v) is offered: %v", where, m.Kind, n.Name, n.Lost(), offered)
			}
		}
	}
	o := v.Operations[0]
	steps, err := r.Store.Steps(r.Context(), v.Tenant, o.ID)
	if err != nil {
		r.Fatal(err)
	}
	want := cluster.UnfinishedOf(steps, v.Nodes)
	got, err := r.Store.Unfinished(r.Context(), v.Tenant, o.ID)
	for _, u := range []*cluster.Unfinished{&want, &got} {
		for i := range u.Failures {
			u.Failures[i] = app.Step{ID: u.Failures[i].ID, Error: u.Failures[i].Error}
		}
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		r.Errorf("%s: left undone is counted as %+v (%v), want %+v", where, got, err, want)
	}
}

// trouble is one operation of the table: begin brings a cluster to where it is asked for, and ask asks for it.
type trouble struct {
	name  string
	begin func(r *failureSim)
	ask   func(r *failureSim)
}

func (r *failureSim) must(_ any, err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("%v (%s)", err, app.AsError(err).Hint)
	}
}

func asked(m cluster.Update) func(r *failureSim) {
	return func(r *failureSim) {
		r.Helper()
		a, err := r.Services.Operation.Updates.Update(r.Context(), r.Who, "shop", m)
		if err != nil || a.Operation == 0 {
			r.Fatalf("%+v: %v %+v", m, err, app.AsError(err))
		}
	}
}

// made creates a cluster of four nodes.
func made(r *failureSim) { creates(r); r.carry() }

func creates(r *failureSim) {
	r.must(r.Services.Cluster.Creates.CreateCluster(r.Context(), r.Who, cluster.CreateRequest{Name: "shop", Request: layout.Request{Template: "shop", Size: 4}}))
}

// done has an operation end well first.
func done(asks ...func(r *failureSim)) func(r *failureSim) {
	return func(r *failureSim) {
		made(r)
		for _, ask := range asks {
			ask(r)
			r.carry()
		}
	}
}

// broken has an operation fail at a step first.
func broken(ask func(r *failureSim), step int) func(r *failureSim) {
	return func(r *failureSim) { made(r); ask(r); r.breakAt(step) }
}

func (r *failureSim) breakAt(step int) {
	r.done, r.at, r.kill = 0, step, ""
	r.carry()
	r.hit = false
}

func (r *failureSim) sleeps() {
	r.must(r.Services.Operation.Sleeping.SleepCluster(r.Context(), r.Who, "shop", ""))
}

func (r *failureSim) wakes() {
	r.must(r.Services.Operation.Sleeping.WakeCluster(r.Context(), r.Who, "shop", ""))
}

func (r *failureSim) undoes() {
	r.must(r.Services.Operation.RollBacks.RollBack(r.Context(), r.Who, "shop", 0, "", ""))
}

func (r *failureSim) gives() {
	r.must(r.Services.Cluster.Deletes.DeleteCluster(r.Context(), r.Who, "shop"))
}

func (r *failureSim) upgrades() {
	web := *r.Catalog.Services["web"]
	web.Actions = maps.Clone(web.Actions)
	r.Made++
	web.Actions[app.ActionInstall] = &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": fmt.Sprint("web version ", r.Made)}}
	r.Catalog.Services["web"] = &web
	asked(cluster.Update{Kind: app.OperationUpgrade})(r)
}

// unhealthy loses a machine of an existing cluster.
func (r *failureSim) unhealthy() {
	made(r)
	delete(r.machines, r.nodes()[1].MachineID)
	r.notice()
}

func troubles() []trouble {
	grow, shrink := asked(cluster.Update{Kind: app.OperationResize, Size: 6}), asked(cluster.Update{Kind: app.OperationResize, Size: 3})
	add := asked(cluster.Update{Kind: app.OperationAddServices, Services: []string{"cache"}})
	set := asked(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": 81}})
	stop := asked(cluster.Update{Kind: app.OperationStop, Services: []string{"web"}})
	return []trouble{
		{"create", func(*failureSim) {}, creates},
		{"grow", made, grow},
		{"shrink", made, shrink},
		{"add services", made, add},
		{"remove services", done(add), asked(cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"cache"}})},
		{"configure", made, set},
		{"upgrade", made, (*failureSim).upgrades},
		{"start services", done(stop), asked(cluster.Update{Kind: app.OperationStart, Services: []string{"web"}})},
		{"stop services", made, stop},
		{"restart services", made, asked(cluster.Update{Kind: app.OperationRestart})},
		{"sleep", made, (*failureSim).sleeps},
		{"wake", done((*failureSim).sleeps), (*failureSim).wakes},
		{"repair", (*failureSim).unhealthy, asked(cluster.Update{Kind: app.OperationRepair})},
		{"configure after a failed create", func(r *failureSim) { creates(r); r.breakAt(9) }, set},
		{"roll back a creation", func(r *failureSim) { creates(r); r.breakAt(9) }, (*failureSim).undoes},
		{"roll back a growth", broken(grow, 7), (*failureSim).undoes},
		{"roll back a shrink", broken(shrink, 3), (*failureSim).undoes},
		{"roll back a configuration", broken(set, 3), (*failureSim).undoes},
		{"roll back an upgrade", broken((*failureSim).upgrades, 5), (*failureSim).undoes},
		{"roll back a sleep", broken((*failureSim).sleeps, 6), (*failureSim).undoes},
		{"delete", made, (*failureSim).gives},
	}
}

// TestEveryFailureCanBeRecovered breaks each operation at each of its steps: the step fails, or its node's machine dies before it, or
// another node's does. Whichever of the ways on is taken that are offered then, the cluster is well again in the end, and deleting it
// leaves no machine.
func TestEveryFailureCanBeRecovered(t *testing.T) {
	r := newFailureSim(t)
	number, total := 0, 0
	taken := map[cluster.RecoveryKind]int{}
	for _, x := range troubles() {
		x.begin(r)
		x.ask(r)
		r.done, r.at = 0, -1
		r.carry()
		steps := r.done
		r.tidy()
		cases := 0
		for step := range steps {
			for _, kill := range []string{"", "n1", "n2", "n4"} {
				if number++; !*everyFailure && number%9 != 0 && x.name != "stop services" { // of all kinds, since there are four in a row; and those that found a fault
					continue
				}
				if r.breaks(x, step, kill, number, taken) {
					cases++
				}
			}
		}
		total += cases
		t.Logf("%-34s %3d steps, %3d failures", x.name, steps, cases)
	}
	t.Logf("%d failures; ways taken: %v", total, taken)
}

// breaks reports whether anything went wrong: a node may have no machine at that step.
func (r *failureSim) breaks(x trouble, step int, kill string, number int, taken map[cluster.RecoveryKind]int) bool {
	r.Helper()
	x.begin(r)
	x.ask(r)
	r.done, r.at, r.kill, r.hit = 0, step, kill, false
	r.carry()
	where := fmt.Sprintf("%s, step %d, killed %q", x.name, step, kill)
	defer r.tidy()
	if !r.hit || r.gone() {
		return r.hit
	}
	v, first := r.See("shop"), cluster.RecoveryKind("nothing")
	r.checkActions(where, v)
	if v.Status == app.ClusterFailed {
		ways := v.Problem.Options
		if len(ways) < 2 && v.Operations[0].Kind != app.OperationDelete {
			r.Errorf("%s: all that is offered is %+v", where, ways)
		}
		way := ways[number%max(1, len(ways)-1)].Kind // not always the best
		if first = way; r.follow(v, way) {
			taken[way]++
		}
	}
	var went []string
	for range 6 {
		if r.gone() {
			return true
		}
		if v = r.See("shop"); v.Status == app.ClusterActive {
			break
		}
		if v.Status == app.ClusterAsleep {
			r.wakes()
			r.carry()
			continue
		}
		r.checkActions(where, v)
		way := v.Problem.Options[0].Kind
		went = append(went, string(way))
		r.follow(v, way)
	}
	if v.Status != app.ClusterActive {
		r.Errorf("%s: it is %s (%s) after %v", where, v.Status, v.Message, went)
	}
	if wrong := r.wrong(v); v.Status == app.ClusterActive && wrong != "" {
		r.Errorf("%s: after %s and %v:%s", where, first, went, wrong)
	}
	for _, n := range v.Nodes {
		if !r.machines[n.MachineID] || n.Leaving || n.Lost() || n.Status != app.NodeReady {
			r.Errorf("%s: %s is %+v, its machine runs: %v", where, n.Name, n, r.machines[n.MachineID])
		}
	}
	return true
}

func (r *failureSim) gone() bool {
	list, err := r.Services.Cluster.Views.Clusters(r.Context(), r.Who, app.ClusterFilter{Name: "shop"})
	if err != nil {
		r.Fatal(err)
	}
	return len(list) == 0
}

// tidy deletes what is left, and checks that no machine is.
func (r *failureSim) tidy() {
	r.Helper()
	for range 3 {
		if r.gone() {
			break
		}
		if _, err := r.Services.Cluster.Deletes.DeleteCluster(r.Context(), r.Who, "shop"); err != nil {
			r.Fatal(err)
		}
		r.at = -1
		r.carry()
	}
	if !r.gone() || len(r.machines) > 0 {
		r.Fatalf("after deletion there are the machines %v, the cluster gone: %v", slices.Sorted(maps.Keys(r.machines)), r.gone())
	}
}

// TestServicesRunOnWithoutLostNodes restarts the services of a cluster that lost a machine: all but those on that node, which can only be
// replaced.
func TestServicesRunOnWithoutLostNodes(t *testing.T) {
	r := newFailureSim(t)
	r.unhealthy()
	v := r.See("shop")
	lost := v.Problem.Lost[0]
	if !slices.Equal(v.Actions.LostNodes, []app.OperationKind{app.OperationRepair}) || !slices.Contains(v.Actions.Nodes, app.OperationRestart) {
		t.Errorf("the actions are %+v", v.Actions)
	}
	r.checkActions("lost", v)
	p, err := r.Services.Operation.Updates.PreviewUpdate(t.Context(), r.Who, v.ID, cluster.Update{Kind: app.OperationRestart})
	if err != nil || !strings.Contains(strings.Join(p.Notes, " "), "The machine of "+lost+" is gone, so nothing runs there.") {
		t.Errorf("the restart says %q, %v", p.Notes, err)
	}
	for _, s := range p.Plan.Steps {
		if s.Node == lost {
			t.Errorf("the restart is to do %s on %s", s.Action, lost)
		}
	}
	asked(cluster.Update{Kind: app.OperationRestart, PlanHash: p.PlanHash})(r)
	r.carry()
	if v = r.See("shop"); v.Operations[0].Status != app.OperationSucceeded || v.Status != app.ClusterFailed || len(v.Problem.Lost) != 1 {
		t.Errorf("after the restart: %s, %s, %+v", v.Operations[0].Status, v.Status, v.Problem)
	}
	_, err = r.Services.Operation.Updates.Update(t.Context(), r.Who, v.ID, cluster.Update{Kind: app.OperationStop, Nodes: []string{lost}})
	if e := app.AsError(err); err == nil || e.Reason != "lost_machines" || e.Message != "The machine of "+lost+" is gone." || e.Hint != "Repair the cluster first." {
		t.Errorf("stopping services on %s: %+v", lost, err)
	}
	asked(cluster.Update{Kind: app.OperationRepair})(r)
	r.carry()
	if v = r.See("shop"); v.Status != app.ClusterActive || r.wrong(v) != "" {
		t.Errorf("after the repair: %s %s", v.Status, r.wrong(v))
	}
	r.must(r.Services.Cluster.Sharing.ShareCluster(t.Context(), r.Who, v.ID, sharing.SharingChange{Visibility: app.VisibleTenant}))
	readers := r.Actor("bob", app.RoleViewer)
	if v, err = r.Services.Cluster.Views.Cluster(t.Context(), readers, v.ID); err != nil || len(v.Actions.Cluster)+len(v.Actions.Nodes) > 0 {
		t.Errorf("a viewer is offered %+v, %v", v.Actions, err)
	}
	r.tidy()
}

// TestTroubleNeedsFewRows: what is wrong with a cluster is read in as many rows, however many steps its operation has.
func TestTroubleNeedsFewRows(t *testing.T) {
	b := harness.New(t)
	b.Catalog.Templates["web"].Constraints.Size.Max = 1000
	who := b.Actor("ada", app.RoleUser)
	read := func(size int) (v cluster.View, queries, rows int64, steps int) {
		t.Helper()
		name := fmt.Sprint("web-", size)
		if _, err := b.Services.Cluster.Creates.CreateCluster(t.Context(), who, cluster.CreateRequest{Name: name, Request: layout.Request{Template: "web", Size: size}}); err != nil {
			t.Fatal(err)
		}
		w := app.WorkerID{Tenant: app.DefaultTenant, Name: "w"}
		claimed, err := b.Services.Execution.Coordinator.Claim(t.Context(), w, 5)
		if err != nil || len(claimed) != 5 {
			t.Fatal(len(claimed), err)
		}
		for _, as := range claimed {
			if _, err := b.Services.Execution.Coordinator.Report(t.Context(), w, []execution.Report{{Fence: as.Fence, Action: as.Action, Err: app.Errorf(app.EScript, "it broke")}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Services.Operation.Controls.CancelOperation(t.Context(), who, name, 0, false); err != nil {
			t.Fatal(err)
		}
		var r db.Reading
		if v, err = b.Services.Cluster.Views.Cluster(r.In(t.Context()), who, name); err != nil {
			t.Fatal(err)
		}
		return v, r.Queries(), r.Rows(), v.Operations[0].Total
	}
	few, asked, rows, _ := read(10)
	many, askedMany, rowsMany, steps := read(1000)
	for _, v := range []cluster.View{few, many} {
		if x := v.Problem; x == nil || len(x.Failures) != cluster.MostFailedSteps || x.MoreFailures != 2 {
			t.Fatalf("what is wrong is %+v", x)
		}
	}
	t.Logf("10 nodes: %d questions, %d rows; 1,000 nodes with %d steps: %d questions, %d rows", asked, rows, steps, askedMany, rowsMany)
	if askedMany != asked || rowsMany-rows > 990 { // a row for each node
		t.Errorf("with 1,000 nodes %d questions and %d rows are read, with 10 %d and %d", askedMany, rowsMany, asked, rows)
	}
}
