package jobs_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/layout"
	"muster/app/observe"
	appplan "muster/app/plan"
	"muster/app/store"
	"muster/app/store/db"
	"muster/app/store/storetest"
	"muster/app/template"
	"muster/jobs/reconcile"
	"muster/providers/fake"
)

// crowd is an account with many clusters of one machine each. Its list is at hand, so that what looks cost is what they ask of the store.
type crowd struct {
	*fake.Cloud
	store *store.Store
	read  *db.Reading
	r     *reconcile.Reconciler

	mu       sync.Mutex
	machines []family.Machine
	asked    []questions // of the store, up to each list
	// described are machines as Describe has them; those that it lacks don't exist.
	described map[string]family.Machine
}

func (c *crowd) Describe(ctx context.Context, id string) (family.Machine, error) {
	c.mu.Lock()
	m, ok := c.described[id]
	c.mu.Unlock()
	if ok {
		return m, nil
	}
	return c.Cloud.Describe(ctx, id)
}

type questions struct{ queries, rows int64 }

func (c *crowd) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	if tags[family.TagCluster] != "" {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, questions{c.read.Queries(), c.read.Rows()})
	return c.machines, nil
}

// without takes the last machine from the account, and returns what puts it back.
func (c *crowd) without() (back func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.machines
	c.machines = all[:len(all)-1]
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.machines = all
	}
}

// run looks at the account until stop is called.
func (c *crowd) run(t testing.TB, r *reconcile.Reconciler) (stop func()) {
	ctx, cancel := context.WithCancel(c.read.In(t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	return func() { cancel(); <-done }
}

// status returns how many clusters are in a state.
func (c *crowd) status(t testing.TB, status app.ClusterStatus) int {
	n := 0
	if err := c.store.ExpectedMachines(t.Context(), "cloud", "", nil, func(m fleet.ExpectedMachine) error {
		if m.Status == status {
			n++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func (c *crowd) comesAbout(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hangs); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it doesn't come about that %s", what)
		}
	}
}

func newCrowd(t testing.TB, clusters int) *crowd {
	file := storetest.File(t)
	s, err := store.Open(t.Context(), file, make([]byte, store.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	plan := appplan.Plan{Kind: app.OperationCreate, Steps: []appplan.Step{{ID: "n1.create", Node: "n1", Action: app.ActionCreate},
		{ID: "n1.confirm", Node: "n1", Action: app.ActionConfirm, Needs: []int{0}}}}
	if _, err := s.CreateCluster(t.Context(), apptest.NewCluster(app.DefaultTenant, "web", 1, time.Now(), plan)); err != nil {
		t.Fatal(err)
	}
	w := app.WorkerID{Tenant: app.DefaultTenant, Name: "w"}
	for i, update := range []*execution.NodeUpdate{{Status: app.NodeCreated, Machine: &family.Machine{ID: "m"}}, {Status: app.NodeReady}} {
		held, err := s.ClaimSteps(t.Context(), execution.ClaimQuery{Worker: w, Now: time.Now(), For: execution.ClaimFor, Most: 1})
		if err != nil || len(held) != 1 {
			t.Fatalf("step %d: %+v, %v", i, held, err)
		}
		f := app.Fence{Operation: held[0].Step.Operation, Index: held[0].Step.Index, Attempt: held[0].Step.Attempt}
		if _, err := s.FinishSteps(t.Context(), w, []execution.Finish{{Now: time.Now(), Fence: f, Node: update}}); err != nil {
			t.Fatal(err)
		}
	}
	if clusters > 1 {
		if err := storetest.Multiply(t.Context(), file, app.DefaultTenant, clusters-1, nil); err != nil {
			t.Fatal(err)
		}
	}
	installation, err := s.Installation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{Cloud: fake.New("cloud"), store: s, read: &db.Reading{}}
	for k := range clusters {
		suffix := ""
		if k > 0 {
			suffix = fmt.Sprint("-", k)
		}
		c.machines = append(c.machines, family.Machine{ID: "m" + suffix, State: family.MachineRunning,
			Tags: map[string]string{family.TagInstallation: installation, family.TagIntent: app.DefaultTenant + "-web-n1" + suffix}})
	}
	catalog := template.NewCatalog()
	catalog.Providers["cloud"] = &template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "fake"}
	c.r = &reconcile.Reconciler{Name: "r", Installation: installation, Accounts: s, Orphans: s, Clusters: s, Proofs: s, Interruptions: s, Providers: manyClouds{"cloud": c}, Catalog: func() *template.Catalog { return catalog },
		Log: slog.New(slog.DiscardHandler), Every: time.Hour, Watch: 5 * time.Millisecond}
	return c
}

// looks waits for so many looks to end, and returns what the last of them took and asked of the store.
func (c *crowd) looks(t testing.TB, n int) (took time.Duration) {
	var last time.Time
	for deadline := time.Now().Add(10 * hangs); n > 0; time.Sleep(time.Millisecond) {
		accounts, err := c.store.Accounts(t.Context())
		if err != nil || time.Now().After(deadline) {
			t.Fatal("the account isn't looked at", err)
		}
		if len(accounts) == 1 && accounts[0].EndedAt.After(last) {
			if accounts[0].Error != "" {
				t.Fatal(accounts[0].Error)
			}
			last, took, n = accounts[0].EndedAt, accounts[0].EndedAt.Sub(accounts[0].BeganAt), n-1
		}
	}
	return took
}

// BenchmarkReconcile is the first look at an account, which compares all of it, and those after it, by how many clusters there are.
func BenchmarkReconcile(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newCrowd(b, n)
			spent := func() time.Duration {
				var u syscall.Rusage
				if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
					b.Fatal(err)
				}
				return time.Duration(u.Utime.Nano() + u.Stime.Nano())
			}
			for b.Loop() {
				used := spent()
				stop := c.run(b, c.r)
				b.ReportMetric(float64(c.looks(b, 1).Microseconds())/1000, "ms/first")
				b.ReportMetric(float64((spent()-used).Microseconds())/1000, "cpu-ms/first")
				lists := func() int {
					c.mu.Lock()
					defer c.mu.Unlock()
					return len(c.asked)
				}
				used = spent()
				began := lists()
				b.ReportMetric(float64(c.looks(b, 5).Microseconds())/1000, "ms/next")
				b.ReportMetric(float64((spent()-used).Microseconds())/1000/float64(lists()-began), "cpu-ms/next")
				stop()
			}
		})
	}
}

// TestQuestionsOfALookDontGrow: what a look asks of the store depends on what has changed, not on how many clusters there are; and where all are
// compared, they are
// read together.
func TestQuestionsOfALookDontGrow(t *testing.T) {
	t.Parallel()
	const most = 60 // a round of other questions runs beside looks, and several where the host is busy
	for _, n := range []int{1, 100, 1_000} {
		c := newCrowd(t, n)
		since := func(from int) (worst questions) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for i := max(from, 1); i < len(c.asked); i++ {
				worst.queries = max(worst.queries, c.asked[i].queries-c.asked[i-1].queries)
				worst.rows = max(worst.rows, c.asked[i].rows-c.asked[i-1].rows)
			}
			return worst
		}
		lists := func() int {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.asked)
		}
		stop := c.run(t, c.r)
		c.looks(t, 1)
		c.comesAbout(t, "it is looked at again", func() bool { return lists() > 2 })
		if q := since(0); q.queries > most {
			t.Errorf("%d clusters: the comparison asks %d times", n, q.queries)
		}
		idle := lists()
		c.comesAbout(t, "it is looked at when nothing has changed", func() bool { return lists() > idle+5 })
		if q := since(idle); q.queries > most || q.rows > most {
			t.Errorf("%d clusters: a look when nothing has changed asks %d times and reads %d rows", n, q.queries, q.rows)
		}
		for range 2 {
			before := lists()
			back := c.without()
			c.comesAbout(t, "a loss is noticed", func() bool { return c.status(t, app.ClusterFailed) == 1 })
			back()
			c.comesAbout(t, "the machine is back", func() bool { return c.status(t, app.ClusterActive) == n })
			if q := since(before); q.queries > most || q.rows > most {
				t.Errorf("%d clusters: a look when one machine goes or is back asks %d times and reads %d rows", n, q.queries, q.rows)
			}
		}
		stop()
	}
}

// counts is a meter that counts lost clusters.
type counts struct{ lost atomic.Int64 }

func (m *counts) Add(of *observe.Metric, n float64, labels ...string) {
	if of == observe.MetricFindings && labels[len(labels)-1] == "lost" {
		m.lost.Add(int64(n))
	}
}

func (m *counts) ObserveDuration(*observe.Metric, time.Duration, ...string) {}

// together is a store in which no server keeps another one from an account.
type together struct{ reconcile.AccountStore }

func (together) HoldAccount(context.Context, string, string, time.Time, time.Duration) (bool, error) {
	return true, nil
}

// TestTwoServersReportALossOnce: two servers that look at an account, in turn or at the same moment, mark, count and tell of a loss once, and find
// what the other has marked.
func TestTwoServersReportALossOnce(t *testing.T) {
	t.Parallel()
	for _, turns := range []bool{true, false} {
		t.Run(fmt.Sprintf("in turn %v", turns), func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, 3)
			var meter counts
			for _, name := range []string{"one", "two"} {
				r := &reconcile.Reconciler{Name: name, Installation: c.r.Installation, Accounts: c.store, Orphans: c.store, Clusters: c.store, Proofs: c.store, Interruptions: c.store, Providers: c.r.Providers, Catalog: c.r.Catalog, Log: c.r.Log, Every: time.Hour,
					Watch: 5 * time.Millisecond, Meter: &meter}
				if !turns {
					r.Accounts = together{c.store}
				}
				defer c.run(t, r)()
			}
			lists := func() int {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.asked)
			}
			var machine, cluster string
			if err := c.store.ExpectedMachines(t.Context(), "cloud", "", nil, func(m fleet.ExpectedMachine) error { machine, cluster = m.ID, m.Cluster; return nil }); err != nil {
				t.Fatal(err)
			}
			c.mu.Lock()
			slices.SortFunc(c.machines, func(x, y family.Machine) int { return cmp.Compare(bit(x.ID == machine), bit(y.ID == machine)) })
			c.mu.Unlock()
			c.comesAbout(t, "both look", func() bool { return lists() > 10 })
			for round := 1; round <= 3; round++ {
				back := c.without()
				c.comesAbout(t, "the loss is noticed", func() bool { return c.status(t, app.ClusterFailed) == 1 })
				seen := lists()
				c.comesAbout(t, "both look again", func() bool { return lists() > seen+10 })
				sent, failed := 0, 0
				notices, err := c.store.Notices(t.Context(), app.DefaultTenant, 0, 1000)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range notices {
					if n.Kind == app.NoticeLost {
						sent++
					}
				}
				events, err := c.store.Events(t.Context(), app.DefaultTenant, cluster, 0, 1000)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range events {
					if e.Kind == app.EventCluster && e.Status == string(app.ClusterFailed) {
						failed++
					}
				}
				if n := int(meter.lost.Load()); sent != round || failed != round || n != round {
					t.Fatalf("after %d losses there are %d notices, %d events and a count of %d", round, sent, failed, n)
				}
				back()
				c.comesAbout(t, "it is found again", func() bool { return c.status(t, app.ClusterActive) == 3 })
			}
		})
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// accounts returns providers by account.
type accounts map[string]family.Provider

func (a accounts) Provider(_ context.Context, spec template.ProviderSpec) (family.Provider, error) {
	return a[spec.Account()], nil
}

// TestMachinesAreLostOnlyInTheirOwnAccount: a tenant has a provider of its own by the name of the installation's, whose account lists none of the machines.
func TestMachinesAreLostOnlyInTheirOwnAccount(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 2)
	own := template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "fake", Tenant: app.DefaultTenant}
	c.r.Own = func(context.Context) ([]*template.ProviderSpec, error) { return []*template.ProviderSpec{&own}, nil }
	c.r.Providers = accounts{"cloud": fake.New("cloud"), own.Account(): c}
	defer c.run(t, c.r)()
	looked := func(n int) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.asked) > n
	}
	c.comesAbout(t, "both accounts are looked at", func() bool {
		known, err := c.store.Accounts(t.Context())
		return err == nil && len(known) == 2 && !known[0].EndedAt.IsZero() && !known[1].EndedAt.IsZero() && looked(5)
	})
	if n := c.status(t, app.ClusterActive); n != 2 {
		t.Errorf("%d clusters are active, want 2", n)
	}
	c.without()
	c.comesAbout(t, "the loss is noticed", func() bool { return c.status(t, app.ClusterFailed) == 1 })
	if n := c.status(t, app.ClusterActive); n != 1 {
		t.Errorf("%d clusters are active, want 1", n)
	}
}

// pair is an engine whose account is looked at, and what happened to machines that went.
type pair struct {
	*engine
	ids  []string // of clusters
	gone map[string]family.Machine
	stop func()
}

// machine returns a node's machine id.
func (p *pair) machine(cluster, node int) string {
	v, err := p.app.Cluster.Views.Cluster(p.ctx, p.admin, p.ids[cluster])
	if err != nil {
		p.Fatal(err)
	}
	return v.Nodes[node].MachineID
}

// summary lists all clusters and nodes.
func (p *pair) summary() (text string, lost int) {
	for i, id := range p.ids {
		v, err := p.app.Cluster.Views.Cluster(p.ctx, p.admin, id)
		if err != nil {
			p.Fatal(err)
		}
		text += fmt.Sprintf("%d %s %q:", i, v.Status, v.Message)
		for _, n := range v.Nodes {
			if n.Lost() {
				lost++
				text += " " + n.Name
			}
		}
		text += "\n"
	}
	return text, lost
}

// TestIncrementalChecksMatchFullOnes: machines go, stop and return, lists fail or are cut short, clusters go to sleep and wake, servers restart: a
// server that looks
// only at what has changed knows the same as one that always compares all.
func TestIncrementalChecksMatchFullOnes(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	const clusters, nodes = 4, 2
	both := []*pair{{engine: newEngine(t, sleepers)}, {engine: newEngine(t, sleepers)}}
	every := []time.Duration{time.Hour, 5 * time.Millisecond}
	stop := func() {
		for _, p := range both {
			if p.stop != nil {
				p.stop()
			}
		}
	}
	start := func() {
		stop()
		for i, p := range both {
			p.stop = p.reconciler(func(r *reconcile.Reconciler) { r.Every, r.Watch = every[i], 5*time.Millisecond })
		}
	}
	for _, p := range both {
		p.gone = map[string]family.Machine{}
		for i := range clusters {
			if i == clusters-1 { // one fails, and keeps a machine
				p.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.ECredentials, Message: "who are you?"}, Node: "n1"})
			}
			v, err := p.app.Cluster.Creates.CreateCluster(p.ctx, p.admin, appcluster.CreateRequest{Name: fmt.Sprint("c", i), Request: layout.Request{Template: "web", Size: nodes}})
			if err != nil {
				t.Fatal(err)
			}
			p.ids = append(p.ids, v.ID)
			p.await(v.ID)
		}
	}
	start()
	defer func() { stop() }()
	late, losses := false, 0
	history := ""
	for range 30 {
		cluster, node, act := random.IntN(clusters), random.IntN(nodes), random.IntN(10)
		if late && random.IntN(2) == 0 {
			act = 7 // what returns is found once the list shows it
		}
		history += fmt.Sprintf("%d of c%d n%d\n", act, cluster, node+1)
		for _, p := range both {
			id := p.machine(cluster, node)
			m, err := p.cloud.Describe(p.ctx, id)
			switch {
			case act < 2 && err == nil:
				p.gone[id] = m
				p.cloud.Vanish(id)
			case act < 4 && err == nil:
				p.gone[id] = m
				p.cloud.Stop(id)
			case act < 7: // all of the cluster's are back
				for n := range nodes {
					if id := p.machine(cluster, n); p.gone[id].ID != "" {
						back := p.gone[id]
						back.State = family.MachineRunning
						p.cloud.Put(back)
						delete(p.gone, id)
					}
				}
			case act == 7:
				late = !late && p == both[0] || late && p != both[0]
				p.cloud.SetListLag(map[bool]time.Duration{true: time.Hour}[late])
			case act == 8: // a server that couldn't list an account waits before it does so again, unless it's restarted
				p.stop()
				lists := p.cloud.Count(fake.List)
				p.cloud.Order(fake.List, fake.Outcome{Err: &app.Error{Code: app.ECredentials, Message: "who are you?"}})
				p.stop = p.reconciler(func(r *reconcile.Reconciler) { r.Every, r.Watch = time.Hour, 5*time.Millisecond })
				p.comesAbout("the list fails", func() bool { return p.cloud.Count(fake.List) > lists })
			case act == 9:
				if p.gone[p.machine(cluster, 0)].ID+p.gone[p.machine(cluster, 1)].ID != "" || cluster == clusters-1 {
					continue
				}
				v, err := p.app.Cluster.Views.Cluster(p.ctx, p.admin, p.ids[cluster])
				if err == nil && v.Status == app.ClusterActive {
					_, err = p.app.Operation.Sleeping.SleepCluster(p.ctx, p.admin, v.ID, "")
				} else if err == nil && v.Status == app.ClusterAsleep {
					_, err = p.app.Operation.Sleeping.WakeCluster(p.ctx, p.admin, v.ID, "")
				}
				if err != nil {
					t.Fatal(err)
				}
				p.await(v.ID)
			}
		}
		if act == 8 {
			start()
		}
		agreed := func() bool {
			looks, _ := both[0].summary()
			compares, lost := both[1].summary()
			losses += lost
			return looks == compares
		}
		for range 2 {
			for _, p := range both {
				p.passes(3)
			}
			for deadline := time.Now().Add(hangs); !agreed(); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					looks, _ := both[0].summary()
					compares, _ := both[1].summary()
					t.Fatalf("seed %d: after\n%slooks know\n%sand comparisons\n%s", seed, history, looks, compares)
				}
			}
		}
	}
	if losses == 0 {
		t.Error("no machine was ever lost")
	}
}
