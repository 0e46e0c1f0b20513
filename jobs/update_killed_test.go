package jobs_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/template"
	"muster/automators/shell"
	"muster/jobs"
	"muster/jobs/queue"
	"muster/jobs/remote/remotetest"
	"muster/planner"
	"muster/providers/fake"
	"muster/solver"
	"muster/solver/change"
)

const hangs = 5 * time.Minute // reached only where something hangs

// mortal is an engine that dies and comes back: server and worker are dropped without a word, and started again on what is on
// disk and in the cloud.
type mortal struct {
	*testing.T
	file    string // the database
	state   string // a folder in which services keep their state
	cloud   *fake.Cloud
	ssh     *remotetest.Server
	catalog *template.Catalog
	queue   *queue.Queue
	admin   app.Actor
	lives   int
	calm    map[string]bool // steps that ended between the request for an operation and the first life that dies of them
	keys    app.Keys        // nil: all clusters have the key that ssh knows
	baker   *lossyBaker     // makes images of the cloud's machines; nil: none are made

	app   *all.Services
	store *store.Store
	coord *mortalCoordinator
	stop  func()
}

// mortalCoordinator dies at a boundary: just before a step's end is written down, or just after.
type mortalCoordinator struct {
	execution.Coordinator
	before bool
	killed map[string]bool // steps at whose end it has died in an earlier life; nil: it does not die
	died   chan struct{}

	mu   sync.Mutex
	dead bool
	calm map[string]bool // steps that ended while it did not die
}

var errDead = &app.Error{Code: app.ECancelled, Message: "This process is dead."}

func (m *mortalCoordinator) gone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// deaths tells at the ends of how many steps it has died, in all of its lives.
func (m *mortalCoordinator) deaths() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.killed)
}

// dies reports whether it dies of these reports, and marks it as dead. What was written down at the moment of death counts as well:
// its worker does not get the answer either.
func (m *mortalCoordinator) dies(rs []execution.Report) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed == nil { // it is asked when they are written down, also when it is stopped meanwhile
		for _, r := range rs {
			if m.calm == nil {
				m.calm = map[string]bool{}
			}
			m.calm[fmt.Sprint(r.Fence.Operation, " ", r.Fence.Index)] = true
		}
	}
	if m.killed == nil || m.dead && m.before {
		return m.dead
	}
	was := m.dead
	for _, r := range rs {
		step := fmt.Sprint(r.Fence.Operation, " ", r.Fence.Index)
		if !m.killed[step] {
			m.killed[step], m.dead = true, true
		}
	}
	if m.dead && !was {
		close(m.died)
	}
	return m.dead
}

func (m *mortalCoordinator) Claim(ctx context.Context, w app.WorkerID, most int) ([]*execution.Assignment, error) {
	if m.gone() {
		return nil, errDead
	}
	return m.Coordinator.Claim(ctx, w, most)
}

func (m *mortalCoordinator) Heartbeat(ctx context.Context, w app.WorkerID, held []app.Fence) ([]execution.Directive, error) {
	if m.gone() {
		return nil, errDead
	}
	return m.Coordinator.Heartbeat(ctx, w, held)
}

func (m *mortalCoordinator) Report(ctx context.Context, w app.WorkerID, rs []execution.Report) ([]execution.Reported, error) {
	switch {
	case m.gone(), m.before && m.dies(rs):
		return nil, errDead
	case m.before:
		return m.Coordinator.Report(ctx, w, rs)
	}
	answers, err := m.Coordinator.Report(ctx, w, rs)
	if err != nil {
		return nil, err
	}
	if m.dies(rs) {
		return nil, errDead
	}
	return answers, err
}

func (m *mortalCoordinator) Log(ctx context.Context, w app.WorkerID, lines []app.LogLine) error {
	if m.gone() {
		return errDead
	}
	return m.Coordinator.Log(ctx, w, lines)
}

func newMortal(t *testing.T) *mortal {
	t.Helper()
	dir := t.TempDir()
	m := &mortal{T: t, file: storetest.File(t), state: filepath.Join(dir, "state"), cloud: fake.New("cloud"),
		admin: app.Actor{Tenant: app.DefaultTenant, User: "ada", Role: app.RoleSuperadmin}}
	if err := os.Mkdir(m.state, 0o700); err != nil {
		t.Fatal(err)
	}
	m.ssh = remotetest.Start(t, remotetest.Options{})
	m.cloud.Bind(func(family.MachineSpec) fake.Endpoint {
		target := m.ssh.Target()
		return fake.Endpoint{Address: target.Address, Port: target.Port, HostKey: target.HostKey}
	})
	m.catalog = m.goods("one")
	var err error
	if m.queue, err = queue.Open(redisForTest(t), "test"+fmt.Sprint(time.Now().UnixNano())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.queue.Close() })
	t.Cleanup(func() { m.drop() })
	m.live(nil, false)
	return m
}

// goods has a template of three services, which write down what was done to them last.
func (m *mortal) goods(version string) *template.Catalog {
	c := template.NewCatalog()
	c.Providers["cloud"] = &template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "fake"}
	c.Hardware["small"] = &template.HardwareType{About: template.About{Name: "small"}, Providers: map[string]template.Flavor{"cloud": {Flavor: "s", CostPerHour: 0.5}}}
	c.Images["linux"] = &template.ImageType{About: template.About{Name: "linux"}, Providers: map[string]template.Image{"cloud": {Image: "i"}}}
	write := func(service, file, what string) *template.ServiceAction {
		return script(fmt.Sprintf("echo \"%s\" >%q/\"$MUSTER_NODE\".%s.%s\n", what, m.state, service, file))
	}
	for _, name := range []string{"back", "front", "extra"} {
		s := &template.Service{About: template.About{Name: name}, Actions: map[app.Action]*template.ServiceAction{
			app.ActionInstall:   write(name, "installed", version),
			app.ActionConfigure: write(name, "config", "$CONFIG_COLOUR, fronts $CONFIG_FRONTS"),
			app.ActionStart:     script(fmt.Sprintf("[ ! -e %q/refuse.\"$MUSTER_NODE\".%s ] || exit 9\n", m.state, name) + write(name, "runs", "yes").Fields["script"]),
			app.ActionStop:      write(name, "runs", "no"),
			app.ActionRemove:    write(name, "installed", "removed"),
		}}
		if name == "front" {
			s.Runtime.Requires = []string{"back"}
		}
		c.Services[name] = s
	}
	one := template.ServiceConstraint{Min: 1, MinSet: true, Max: 1}
	c.Templates["web"] = &template.Template{About: template.About{Name: "web"},
		Defaults: template.Defaults{Provider: "cloud", Services: []string{"back", "front"},
			Config: map[string]any{"colour": "red " + version, "fronts": "%join(host.service.front,' ')%"}},
		Compatibility: template.Compatibility{Services: []string{"back", "front", "extra"}},
		Constraints: template.Constraints{CantCoexist: [][]string{{"back", "front"}}, Size: template.SizeRange{Min: 1, Max: 50},
			Services: map[string]template.ServiceConstraint{"back": one}}}
	return c
}

// live starts server and worker on what there is. Killed are the steps at whose end they have died; nil lets them live.
func (m *mortal) live(killed map[string]bool, before bool) {
	m.Helper()
	var err error
	if m.store, err = store.Open(m.Context(), m.file, make([]byte, store.KeySize)); err != nil {
		m.Fatal(err)
	}
	catalog, keys := m.catalog, m.keys
	if keys == nil {
		keys = sameKeys{server: m.ssh}
	}
	config := all.Config{Store: m.store, Solver: solver.New(), Changer: change.New(), Planner: planner.New(), Keys: keys,
		Catalog: func() *template.Catalog { return catalog }, Now: time.Now}
	var clouds jobs.Providers = oneCloud{m.cloud}
	if m.baker != nil {
		clouds, config.Inputs = m.baker, func(string, map[string]string, map[string]any) (map[string]any, string) { return nil, "" }
		config.Bakes = func(string) bool { return true }
	}
	m.app = all.New(config)
	m.coord = &mortalCoordinator{Coordinator: m.app.Execution.Coordinator, before: before, killed: killed, died: make(chan struct{})}
	m.lives++
	name := fmt.Sprintf("server.%d", m.lives)
	if _, err := m.store.ReleaseClaims(m.Context(), "server.", time.Now()); err != nil { // as a server does that starts
		m.Fatal(err)
	}
	w, err := jobs.StartWorker(jobs.WorkerConfig{Name: name, Tenant: app.DefaultTenant, Slots: 2, Queue: m.queue, Coordinator: m.coord,
		Providers: clouds, Automators: map[string]family.Automator{"shell": shell.New()}, Log: quiet(m.T)})
	if err != nil {
		m.Fatal(err)
	}
	d := &queue.Dispatcher{Ledger: m.store, Queue: m.queue, Expire: m.app.Upkeep.Expire, Undo: m.app.Operation.RollBacks.UndoFailed, Log: quiet(m.T), Now: time.Now}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); d.Run(ctx) }()
	m.stop = func() {
		cancel()
		m.coord.mu.Lock()
		m.coord.dead = true // whatever the worker has to say now is not heard
		m.coord.mu.Unlock()
		_ = w.Close()
		<-done
		_ = m.store.Close()
	}
}

func (m *mortal) drop() {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

// carryOut lives until the cluster's latest operation has ended, dying at the end of every step of it where that is wanted.
func (m *mortal) carryOut(id string, die, before bool) (v cluster.View, deaths int) {
	m.Helper()
	var killed map[string]bool
	if die {
		killed = map[string]bool{}
		m.drop()
		m.calm = m.coord.calm // what was asked for begins at once
		m.live(killed, before)
	}
	deadline := time.After(hangs)
	var ended time.Time
	for {
		changed, stop := m.store.Watch(app.ClusterTopic(id))
		v, err := m.app.Cluster.Views.Cluster(m.Context(), m.admin, id)
		if err != nil {
			m.Fatal(err)
		}
		pause := time.Second
		if o := v.Operations[0]; o.Status.Ended() && !m.coord.gone() {
			if ended.IsZero() {
				ended = time.Now()
			}
			switch {
			case die && o.Status == app.OperationFailed && strings.Contains(o.Message, "stopped responding"):
				// Where others died all the time, a step may have lost too many workers. People resume it then.
				if _, err := m.app.Operation.Controls.ResumeOperation(m.Context(), m.admin, id, 0); err != nil {
					m.Fatal(err)
				}
				ended = time.Time{}
			case die && m.coord.deaths()+m.calmOf(o.ID) < o.Total && time.Since(ended) < time.Minute:
				pause = 10 * time.Millisecond // it is about to die of the last end, which is written down already
			default:
				stop()
				return v, m.coord.deaths()
			}
		}
		select {
		case <-m.coord.died:
			stop()
			m.drop()
			m.live(killed, before)
			continue
		case <-changed:
		case <-time.After(pause):
		case <-deadline:
			steps, _ := m.app.Cluster.Activity.Steps(m.Context(), m.admin, id, 0)
			for _, s := range steps {
				m.Logf("%-16s %-10s attempt %d %s", s.ID, s.State, s.Attempt, s.Error)
			}
			m.Fatalf("the %s has not ended: %+v", v.Operations[0].Kind, v.Operations[0])
		}
		stop()
	}
}

func (m *mortal) update(id string, a cluster.Update) {
	m.Helper()
	if _, err := m.app.Operation.Updates.Update(m.Context(), m.admin, id, a); err != nil {
		m.Fatalf("%s: %v (%s)", a.Kind, err, app.AsError(err).Hint)
	}
}

// picture is all that someone could tell of the end of an operation: of the cluster, its nodes, its machines, what runs on them,
// what is reserved for it. What differs from one time to the next, such as ids of machines, is left out.
func (m *mortal) picture(v cluster.View) string {
	m.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d nodes for %v, %v, template %s, %s\n", v.Name, v.Status, v.Size, v.CostPerHour, v.Services, v.Template, v.Message)
	fmt.Fprintf(&b, "operation %s: %s, %d of %d\n", v.Operations[0].Kind, v.Operations[0].Status, v.Operations[0].Done, v.Operations[0].Total)
	machines := map[string][]family.Machine{}
	for _, x := range m.cloud.Machines() {
		machines[x.Tags[family.TagNode]] = append(machines[x.Tags[family.TagNode]], x)
	}
	for _, n := range v.Nodes {
		fmt.Fprintf(&b, "%s: %s, leaving %v, %v, %s %s %s\n", n.Name, n.Status, n.Leaving, n.Services, n.Hardware, n.Image, n.Hostname)
		if has := machines[n.Name]; len(has) != 1 || has[0].ID != n.MachineID {
			fmt.Fprintf(&b, "%s has the machines %v\n", n.Name, len(has))
		}
		delete(machines, n.Name)
		for _, s := range slices.Sorted(maps.Keys(m.catalog.Services)) {
			for _, file := range []string{"installed", "config", "runs"} {
				if text, err := os.ReadFile(filepath.Join(m.state, fmt.Sprintf("%s.%s.%s", n.Name, s, file))); err == nil {
					fmt.Fprintf(&b, "%s.%s %s: %s", n.Name, s, file, text)
				}
			}
		}
	}
	for _, node := range slices.Sorted(maps.Keys(machines)) {
		fmt.Fprintf(&b, "%d machines of %s, which is no node\n", len(machines[node]), node)
	}
	d, err := m.store.Definition(m.Context(), v.Tenant, v.ID)
	if err != nil {
		m.Fatal(err)
	}
	fmt.Fprintf(&b, "config %v, services %v\n", d.Config, slices.Sorted(maps.Keys(d.Services)))
	live, err := m.store.IntentsOf(m.Context(), v.Provider)
	if err != nil {
		m.Fatal(err)
	}
	reserved, err := m.store.Reservations(m.Context(), v.Tenant)
	if err != nil {
		m.Fatal(err)
	}
	fmt.Fprintf(&b, "%d machines are wanted", len(live))
	for _, r := range reserved {
		fmt.Fprintf(&b, "; reserved are %d for %v", r.Nodes, r.CostPerHour)
	}
	return b.String()
}

// lives are the operations that are interrupted. Each begins on a cluster of three nodes; first is done before, in peace.
var lives = []struct {
	name  string
	first []cluster.Update
	act   func(m *mortal, id string)
}{
	{"create", nil, nil},
	{"grow", nil, update(cluster.Update{Kind: app.OperationResize, Size: 5})},
	{"shrink", []cluster.Update{{Kind: app.OperationResize, Size: 4}}, update(cluster.Update{Kind: app.OperationResize, Size: 2})},
	{"add services", nil, update(cluster.Update{Kind: app.OperationAddServices, Services: []string{"extra"}})},
	{"remove services", []cluster.Update{{Kind: app.OperationAddServices, Services: []string{"extra"}}},
		update(cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"extra"}})},
	{"reconfigure", nil, update(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"colour": "blue"}, Batch: 1})},
	{"stop", nil, update(cluster.Update{Kind: app.OperationStop})},
	{"start", []cluster.Update{{Kind: app.OperationStop}}, update(cluster.Update{Kind: app.OperationStart})},
	{"restart", nil, update(cluster.Update{Kind: app.OperationRestart, Services: []string{"front"}, Batch: 1})},
	{"upgrade", nil, func(m *mortal, id string) {
		m.drop()
		m.catalog = m.goods("two")
		m.live(nil, false)
		m.update(id, cluster.Update{Kind: app.OperationUpgrade})
	}},
	{"repair", nil, update(cluster.Update{Kind: app.OperationRepair, Nodes: []string{"n1", "n2"}})},
	{"rollback of a growth", nil, rollBackOf(cluster.Update{Kind: app.OperationResize, Size: 5})},
	{"rollback of a shrink", []cluster.Update{{Kind: app.OperationResize, Size: 4}}, rollBackOf(cluster.Update{Kind: app.OperationResize, Size: 2})},
	{"rollback of other services", nil, rollBackOf(cluster.Update{Kind: app.OperationAddServices, Services: []string{"extra"}},
		"n1.extra", "n2.extra", "n3.extra")},
	{"accepting fewer nodes", nil, acceptPartialOf(false)},
	{"rollback of a partial accept", nil, acceptPartialOf(true)},
	{"delete", []cluster.Update{{Kind: app.OperationResize, Size: 4}, {Kind: app.OperationResize, Size: 3}}, func(m *mortal, id string) {
		if _, err := m.app.Cluster.Deletes.DeleteCluster(m.Context(), m.admin, id); err != nil {
			m.Fatal(err)
		}
	}},
}

func update(a cluster.Update) func(*mortal, string) {
	return func(m *mortal, id string) { m.update(id, a) }
}

// rollBackOf has an update fail, and undoes it: services refuse to start at some places, or else the cloud refuses to make n5, or
// to take a machine back.
func rollBackOf(a cluster.Update, refuses ...string) func(*mortal, string) {
	return func(m *mortal, id string) {
		for _, place := range refuses {
			if err := os.WriteFile(filepath.Join(m.state, "refuse."+place), nil, 0o600); err != nil {
				m.Fatal(err)
			}
		}
		no := fake.Outcome{Err: &app.Error{Code: app.EInvalid, Message: "not today"}}
		switch {
		case a.Size == 5:
			no.Node = "n5"
			m.cloud.Order(fake.Create, no)
		case a.Size > 0:
			m.cloud.Order(fake.Delete, no)
		}
		m.update(id, a)
		v, _ := m.carryOut(id, false, false)
		if v.Operations[0].Status != app.OperationFailed {
			m.Fatalf("the operation to be undone is %s", v.Operations[0].Status)
		}
		for _, place := range refuses {
			_ = os.Remove(filepath.Join(m.state, "refuse."+place))
		}
		if _, err := m.app.Operation.RollBacks.RollBack(m.Context(), m.admin, id, 0, "", ""); err != nil {
			m.Fatal(err)
		}
	}
}

// acceptPartialOf has a growth of which one machine does not come, and accepts the other, or fails to and is to be undone.
func acceptPartialOf(undone bool) func(*mortal, string) {
	return func(m *mortal, id string) {
		m.cloud.Order(fake.Create, fake.Outcome{Node: "n5", Err: &app.Error{Code: app.EQuota, Message: "no room"}})
		m.update(id, cluster.Update{Kind: app.OperationResize, Size: 5})
		if v, _ := m.carryOut(id, false, false); v.Operations[0].Status != app.OperationFailed {
			m.Fatalf("the growth is %s", v.Operations[0].Status)
		}
		if undone {
			m.cloud.Order(fake.List, fake.Outcome{Err: &app.Error{Code: app.EInvalid, Message: "not today"}})
		}
		p, err := m.app.Operation.Partials.PreviewAcceptPartial(m.Context(), m.admin, id, 0, "")
		if err != nil {
			m.Fatal(err)
		}
		if _, err := m.app.Operation.Partials.AcceptPartial(m.Context(), m.admin, id, 0, p.PlanHash, template.PartialOverride{}); err != nil {
			m.Fatal(err)
		}
		if !undone {
			return
		}
		if v, _ := m.carryOut(id, false, false); v.Operations[0].Status != app.OperationFailed {
			m.Fatalf("accepting the partial result is %s", v.Operations[0].Status)
		}
		if _, err := m.app.Operation.RollBacks.RollBack(m.Context(), m.admin, id, 0, "", ""); err != nil {
			m.Fatal(err)
		}
	}
}

// run has one of the operations carried out on a cluster of its own, and tells its end, and how often it died.
func runMortal(t *testing.T, first []cluster.Update, act func(*mortal, string), die, before bool) (picture string, deaths int) {
	t.Helper()
	m := newMortal(t)
	v, err := m.app.Cluster.Creates.CreateCluster(t.Context(), m.admin, cluster.CreateRequest{Name: "web", Request: layout.Request{Template: "web", Size: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if act != nil {
		m.peace(v.ID)
		for _, a := range first {
			m.update(v.ID, a)
			m.peace(v.ID)
		}
		act(m, v.ID)
	}
	v, deaths = m.carryOut(v.ID, die, before)
	if o := v.Operations[0]; o.Status != app.OperationSucceeded || o.Done != o.Total || o.Total == 0 {
		t.Fatalf("the %s is %s, %d of %d: %s", o.Kind, o.Status, o.Done, o.Total, o.Message)
	}
	if o := v.Operations[0]; die && deaths+m.calmOf(o.ID) != o.Total {
		t.Errorf("it died %d times at the ends of %d steps, %d of which had ended before", deaths, o.Total, m.calmOf(o.ID))
	}
	defer m.drop()
	return m.picture(v), deaths
}

// calmOf counts the steps of an operation that had ended before it could die of them.
func (m *mortal) calmOf(operation int64) (n int) {
	for step := range m.calm {
		if strings.HasPrefix(step, fmt.Sprint(operation, " ")) {
			n++
		}
	}
	return n
}

// peace waits for the end of what was asked for first.
func (m *mortal) peace(id string) {
	m.Helper()
	if v, _ := m.carryOut(id, false, false); v.Status != app.ClusterActive {
		m.Fatalf("before anything begins, the cluster is %s: %s", v.Status, v.Message)
	}
}

// Server and worker die at the end of every single step of every operation, once before the end is written down and once after;
// what comes of it is what comes of it in peace.
func TestOperationsSurviveCrashes(t *testing.T) {
	t.Parallel()
	for i, l := range lives {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			want, _ := runMortal(t, l.first, l.act, false, false)
			for _, before := range []bool{true, false} {
				if testing.Short() && before == (i%2 == 0) {
					continue // by turns; all of it is tried against real parts
				}
				got, deaths := runMortal(t, l.first, l.act, true, before)
				if got != want {
					t.Errorf("after %d deaths (before reports: %v) it ended as\n%s\n\nin peace as\n%s", deaths, before, got, want)
				}
			}
			if testing.Verbose() {
				t.Log(want)
			}
		})
	}
}
