package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
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
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
	"muster/planner"
	"muster/portal"
	"muster/portal/apitest"
	"muster/providers/fake"
	"muster/solver"
	"muster/solver/change"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(apitest.Watch(m, portal.InspectAPI)) }

// engine is everything but the faces: a store on disk, a Redis, a dispatcher and a worker, a fake cloud, and one SSH
// server that is every machine of it.
type engine struct {
	*testing.T
	config appall.Config
	app    *appall.Services
	store  *store.Store
	cloud  *fake.Cloud
	ssh    *remotetest.Server
	redis  string
	queue  *queue.Queue
	worker *jobs.Worker
	coord  *flaky
	ctx    context.Context
	stop   func()
	admin  app.Actor
	effect string // a file to which scripts add lines
	keys   app.Keys
	clouds jobs.Providers
}

// flaky is a coordinator between worker and server that can lose what is said.
type flaky struct {
	execution.Coordinator
	mu   sync.Mutex
	lose func(r execution.Report) bool // the report arrives, but the worker gets no response
	mute bool                          // heartbeats do not arrive
}

func (f *flaky) Report(ctx context.Context, w app.WorkerID, rs []execution.Report) ([]execution.Reported, error) {
	answers, err := f.Coordinator.Report(ctx, w, rs)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range rs {
		if f.lose != nil && f.lose(r) {
			return nil, &app.Error{Code: app.ETransient, Message: "the reply was lost"}
		}
	}
	return answers, err
}

func (f *flaky) Heartbeat(ctx context.Context, w app.WorkerID, held []app.Fence) ([]execution.Directive, error) {
	f.mu.Lock()
	mute := f.mute
	f.mu.Unlock()
	if mute {
		return nil, &app.Error{Code: app.ETransient, Message: "no connection"}
	}
	return f.Coordinator.Heartbeat(ctx, w, held)
}

// sameKeys sets for every cluster the key that the SSH server knows.
type sameKeys struct {
	remote.Keys
	server *remotetest.Server
}

func (k sameKeys) NewKey(string) ([]byte, string, error) {
	return k.server.Target().PrivateKey, "ssh-ed25519 AAAA test", nil
}

type oneCloud struct{ cloud *fake.Cloud }

func (o oneCloud) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return o.cloud, nil
}

// script is a service action.
func script(text string) *template.ServiceAction {
	return &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": text}}
}

// catalogOf has one template, "web", of the services front and back; front starts after back.
func (e *engine) catalog() *template.Catalog {
	c := template.NewCatalog()
	c.Providers["cloud"] = &template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "fake"}
	c.Hardware["small"] = &template.HardwareType{About: template.About{Name: "small"},
		Providers: map[string]template.Flavor{"cloud": {Flavor: "s", CostPerHour: 0.5}}}
	c.Images["linux"] = &template.ImageType{About: template.About{Name: "linux"}, Providers: map[string]template.Image{"cloud": {Image: "i"}}}
	note := func(what string) string { return fmt.Sprintf("echo \"$MUSTER_NODE %s\" >>%q\n", what, e.effect) }
	c.Services["back"] = &template.Service{About: template.About{Name: "back"}, Actions: map[app.Action]*template.ServiceAction{
		app.ActionInstall: script(note("back.install")),
		app.ActionStart:   script(note("back.start")),
	}}
	c.Services["front"] = &template.Service{About: template.About{Name: "front"}, Runtime: template.Dependencies{Requires: []string{"back"}},
		Actions: map[app.Action]*template.ServiceAction{
			app.ActionInstall: script(note("front.install")),
			app.ActionStart:   script("echo peers: $CONFIG_PEERS\n" + note("front.start")),
		}}
	one := template.ServiceConstraint{Min: 1, MinSet: true, Max: 1}
	c.Templates["web"] = &template.Template{About: template.About{Name: "web"},
		Defaults: template.Defaults{Provider: "cloud", Services: []string{"back", "front"},
			Config: map[string]any{"peers": "%join(host.service.front,' ')%"}},
		Constraints: template.Constraints{CantCoexist: [][]string{{"back", "front"}}, Size: template.SizeRange{Min: 1, Max: 50},
			Services: map[string]template.ServiceConstraint{"back": one}}}
	return c
}

// newEngine starts one; adjust alters the catalog first.
func newEngine(t *testing.T, adjust func(e *engine, c *template.Catalog)) *engine {
	t.Helper()
	dir := t.TempDir()
	e := &engine{T: t, cloud: fake.New("cloud"), effect: filepath.Join(dir, "effects"), ctx: t.Context(),
		admin: app.Actor{Tenant: app.DefaultTenant, User: "ada", Role: app.RoleSuperadmin}}
	e.ssh = remotetest.Start(t, remotetest.Options{})
	e.cloud.Bind(func(family.MachineSpec) fake.Endpoint {
		target := e.ssh.Target()
		return fake.Endpoint{Address: target.Address, Port: target.Port, HostKey: target.HostKey}
	})
	e.keys, e.clouds = sameKeys{server: e.ssh}, oneCloud{e.cloud}
	var err error
	if e.store, err = store.Open(t.Context(), storetest.File(t), make([]byte, store.KeySize)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.store.Close() })
	catalog := e.catalog()
	if adjust != nil {
		adjust(e, catalog)
	}
	e.config = appall.Config{Store: e.store, Solver: solver.New(), Changer: change.New(), Planner: planner.New(), Keys: e.keys,
		Catalog: func() *template.Catalog { return catalog }, Now: time.Now}
	e.app = appall.New(e.config)
	e.coord = &flaky{Coordinator: e.app.Execution.Coordinator}
	e.redis = redisForTest(t)
	if e.queue, err = queue.Open(e.redis, "test"+fmt.Sprint(time.Now().UnixNano())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.queue.Close() })
	e.startWorker("w1")
	d := &queue.Dispatcher{Ledger: e.store, Queue: e.queue, Expire: e.app.Upkeep.Expire, Log: quiet(t), Now: time.Now}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); d.Run(ctx) }()
	e.stop = func() { cancel(); <-done }
	t.Cleanup(e.stop)
	return e
}

// quiet logs only where -v shows it.
func quiet(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	if testing.Verbose() {
		fmt.Fprintf(os.Stderr, "%s", p)
	}
	return len(p), nil
}

func (e *engine) startWorker(name string) { e.startWorkerWith(name, e.clouds) }

func (e *engine) startWorkerWith(name string, clouds jobs.Providers) {
	e.Helper()
	var err error
	e.worker, err = jobs.StartWorker(jobs.WorkerConfig{Name: name, Tenant: app.DefaultTenant, Slots: 8, Queue: e.queue, Coordinator: e.coord,
		Providers: clouds, Automators: map[string]family.Automator{"shell": shell.New()}, Log: quiet(e.T)})
	if err != nil {
		e.Fatal(err)
	}
	w := e.worker
	e.Cleanup(func() { _ = w.Close() })
}

func (e *engine) create(size int) cluster.View {
	e.Helper()
	v, err := e.app.Cluster.Creates.CreateCluster(e.ctx, e.admin, cluster.CreateRequest{Name: "web", Request: layout.Request{Template: "web", Size: size}})
	if err != nil {
		e.Fatal(err)
	}
	return v
}

// await waits until the cluster's latest operation has ended.
func (e *engine) await(id string) cluster.View {
	e.Helper()
	changed, stop := e.store.Watch(app.ClusterTopic(id))
	defer stop()
	deadline := time.After(hangs)
	for {
		v, err := e.app.Cluster.Views.Cluster(e.ctx, e.admin, id)
		if err != nil {
			e.Fatal(err)
		}
		if v.Operations[0].Status.Ended() {
			return v
		}
		select {
		case <-changed:
		case <-time.After(time.Second):
		case <-deadline:
			steps, _ := e.app.Cluster.Activity.Steps(e.ctx, e.admin, id, 0)
			for _, s := range steps {
				e.Logf("%-16s %-10s attempt %d %s", s.ID, s.State, s.Attempt, s.Error)
			}
			e.Fatalf("the %s has not ended: %s, %d of %d", v.Operations[0].Kind, v.Operations[0].Status, v.Operations[0].Done, v.Operations[0].Total)
		}
	}
}

func (e *engine) want(v cluster.View, status app.ClusterStatus) {
	e.Helper()
	if v.Status != status {
		e.Fatalf("cluster is %s (%s), want %s", v.Status, v.Message, status)
	}
}

func (e *engine) machines() int {
	e.Helper()
	list, err := e.cloud.List(e.ctx, nil)
	if err != nil {
		e.Fatal(err)
	}
	return len(list)
}

func (e *engine) effects() []string {
	b, err := os.ReadFile(e.effect)
	if err != nil && !os.IsNotExist(err) {
		e.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func TestCreateAndDelete(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(4).ID)
	e.want(v, app.ClusterActive)
	if e.machines() != 4 {
		t.Errorf("%d machines, want 4", e.machines())
	}
	effects := e.effects()
	if len(effects) != 8 {
		t.Errorf("effects %v, want each of 8 service steps once", effects)
	}
	back := -1
	for i, line := range effects {
		if strings.HasSuffix(line, "back.start") {
			back = i
		}
		if strings.HasSuffix(line, "front.start") && back < 0 {
			t.Errorf("a front started before the back did: %v", effects)
		}
	}
	lines, err := e.app.Cluster.Activity.Logs(t.Context(), e.admin, v.ID, cluster.LogFilter{})
	if err != nil {
		t.Fatal(err)
	}
	peers := 0
	for _, l := range lines {
		if l.Text == fmt.Sprintf("peers: %[1]s-n1.internal %[1]s-n2.internal %[1]s-n3.internal", v.ID) ||
			l.Text == fmt.Sprintf("peers: %[1]s-n2.internal %[1]s-n3.internal %[1]s-n4.internal", v.ID) {
			peers++
		}
	}
	if peers != 3 {
		t.Errorf("%d fronts got the names of all of them, want 3; log: %+v", peers, lines)
	}
	if d := e.ssh.Dials(); d > 4 {
		t.Errorf("%d connections for 4 nodes: they are not kept", d)
	}
	if _, err := e.app.Cluster.Deletes.DeleteCluster(t.Context(), e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted)
	if e.machines() != 0 {
		t.Errorf("%d machines are left", e.machines())
	}
}

func TestQueueFlushedInTheMiddle(t *testing.T) {
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		c.Services["front"].Actions[app.ActionInstall].Fields["script"] += "sleep 0.2\n"
		e.cloud.SetBoot(300 * time.Millisecond)
	})
	options, err := redis.ParseURL(e.redis)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	v := e.create(6)
	for range 8 {
		time.Sleep(100 * time.Millisecond)
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	e.want(e.await(v.ID), app.ClusterActive)
	if got := e.effects(); len(got) != 12 {
		t.Errorf("effects %v, want 12", got)
	}
}

func TestLostCreateResponseMakesOneMachine(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.cloud.LoseReply(fake.Create, &app.Error{Code: app.ETransient, Message: "connection reset"})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	if e.machines() != 2 {
		t.Errorf("%d machines, want 2", e.machines())
	}
}

func TestMachineThatDiedBeforeItsReportIsReplaced(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.ETransient, Message: "connection reset"}, Happens: true, Node: "n1"})
	v := e.create(2)
	for stopped := false; !stopped; time.Sleep(5 * time.Millisecond) {
		list, err := e.cloud.List(t.Context(), map[string]string{family.TagNode: "n1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			e.cloud.Stop(m.ID)
			stopped = true
		}
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterActive)
	if e.machines() != 2 {
		t.Errorf("%d machines, want 2", e.machines())
	}
}

func TestMachinesListedLate(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.cloud.SetBoot(500 * time.Millisecond)
	e.cloud.Order(fake.Describe, fake.Outcome{Err: &app.Error{Code: app.ENotFound, Message: "no such machine"}, Times: 3})
	e.want(e.await(e.create(3).ID), app.ClusterActive)
}

func TestInvalidCredentialsAreNotRetried(t *testing.T) {
	e := newEngine(t, nil)
	e.cloud.Order(fake.Create, fake.Outcome{Err: &app.Error{Code: app.ECredentials, Message: "the token was refused"}, Times: -1})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterFailed)
	if !strings.Contains(v.Message, "the token was refused") {
		t.Errorf("the message does not say why: %s", v.Message)
	}
	steps, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if steps[0].Attempt != 1 {
		t.Errorf("asked %d times", steps[0].Attempt)
	}
}

func TestFailedScriptIsRetriedThenResumed(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		c.Services["front"].Actions[app.ActionInstall] = script(fmt.Sprintf("[ -e %q.ok ] || { echo no such thing >&2; exit 7; }\n", e.effect))
	})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterFailed)
	if !strings.Contains(v.Message, "7") || !strings.Contains(v.Message, "no such thing") {
		t.Errorf("the message lacks exit code or last line: %s", v.Message)
	}
	steps, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.State == app.StepFailed && s.Attempt != 3 {
			t.Errorf("%s was tried %d times, want 3", s.ID, s.Attempt)
		}
	}
	if err := os.WriteFile(e.effect+".ok", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.app.Operation.Controls.ResumeCluster(t.Context(), e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterActive)
}

func TestDeleteStopsARunningCreate(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		c.Services["front"].Actions[app.ActionInstall] = script(fmt.Sprintf("echo begun >>%q\nsleep 600\n", e.effect))
	})
	v := e.create(2)
	for e.effects()[0] == "" {
		time.Sleep(20 * time.Millisecond)
	}
	if _, err := e.app.Cluster.Deletes.DeleteCluster(t.Context(), e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted) // the long step takes longer than this waits
	if e.machines() != 0 {
		t.Errorf("%d machines are left", e.machines())
	}
}

func TestLostReportReply(t *testing.T) {
	e := newEngine(t, nil)
	lost := map[app.Fence]bool{}
	e.coord.lose = func(r execution.Report) bool {
		if lost[r.Fence] || len(lost) > 3 {
			return false
		}
		lost[r.Fence] = true
		return true
	}
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	steps, err := e.app.Cluster.Activity.Steps(t.Context(), e.admin, v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.Attempt != 1 {
			t.Errorf("%s was tried %d times: what was handed out in a lost answer had to be waited for", s.ID, s.Attempt)
		}
	}
	if got := e.effects(); len(got) != 4 {
		t.Errorf("effects %v, want 4", got)
	}
}

func TestWorkerShutdownReleasesItsSteps(t *testing.T) {
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		c.Services["back"].Actions[app.ActionInstall] = script(fmt.Sprintf(
			"echo begun >>%[1]q\nuntil [ -e %[1]q.go ] || [ ! -d %[2]q ]; do sleep 0.05; done\n", e.effect, filepath.Dir(e.effect)))
	})
	v := e.create(2)
	for e.effects()[0] == "" {
		time.Sleep(20 * time.Millisecond)
	}
	began := time.Now()
	if err := e.worker.Close(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > hangs { // the script runs until it is let go
		t.Errorf("closing took %s", d)
	}
	if err := os.WriteFile(e.effect+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e.startWorker("w2")
	e.want(e.await(v.ID), app.ClusterActive)
	// The script kept running without its worker, and was taken over.
	if n := strings.Count(strings.Join(e.effects(), "\n"), "begun"); n != 1 {
		t.Errorf("the action began %d times", n)
	}
}

func TestLeaseExpiryDeletesACluster(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	lease := time.Second
	v, err := e.app.Cluster.Creates.CreateCluster(t.Context(), e.admin, cluster.CreateRequest{Name: "short", Lease: &lease,
		Request: layout.Request{Template: "web", Size: 2}})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(hangs)
	for v.Status != app.ClusterDeleted && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
		if v, err = e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID); err != nil {
			t.Fatal(err)
		}
	}
	e.want(v, app.ClusterDeleted)
}

func TestFailedDeleteIsRetried(t *testing.T) {
	e := newEngine(t, nil)
	v := e.await(e.create(2).ID)
	e.cloud.Order(fake.Delete, fake.Outcome{Err: &app.Error{Code: app.ECredentials, Message: "the token was refused"}, Node: "n2"})
	if _, err := e.app.Cluster.Deletes.DeleteCluster(t.Context(), e.admin, v.ID); err != nil {
		t.Fatal(err)
	}
	v = e.await(v.ID)
	e.want(v, app.ClusterFailed)
	if !strings.Contains(v.Message, "the token was refused") || !strings.Contains(v.Message, "retried automatically") {
		t.Errorf("the message does not say why, or that it is tried again: %s", v.Message)
	}
	config := e.config
	config.Now = func() time.Time { return time.Now().Add(2 * time.Minute) }
	later := appall.New(config)
	if n, err := later.Upkeep.Expire(t.Context()); n != 1 || err != nil {
		t.Fatalf("%d deletes begun (%v), want 1", n, err)
	}
	e.want(e.await(v.ID), app.ClusterDeleted)
	if e.machines() != 0 {
		t.Errorf("%d machines are left", e.machines())
	}
}

func TestConcurrentDeletesAreOne(t *testing.T) {
	e := newEngine(t, nil)
	v := e.create(4)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := e.app.Cluster.Deletes.DeleteCluster(e.ctx, e.admin, v.ID); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	v = e.await(v.ID)
	e.want(v, app.ClusterDeleted)
	if len(v.Operations) != 2 {
		t.Errorf("%d operations, want creation and one delete: %+v", len(v.Operations), v.Operations)
	}
}

func TestRefusalsChangeNothing(t *testing.T) {
	e := newEngine(t, nil)
	for name, c := range map[string]struct {
		actor app.Actor
		r     cluster.CreateRequest
		code  app.Code
		field string
	}{
		"a viewer may not create": {actor: app.Actor{Tenant: app.DefaultTenant, User: "eve", Role: app.RoleViewer},
			r: cluster.CreateRequest{Request: layout.Request{Template: "web", Size: 2}}, code: app.EForbidden},
		"a bad name":    {r: cluster.CreateRequest{Name: "-x", Request: layout.Request{Template: "web", Size: 2}}, code: app.EInvalid, field: "name"},
		"a bad suffix":  {r: cluster.CreateRequest{DNSSuffix: "a b", Request: layout.Request{Template: "web", Size: 2}}, code: app.EInvalid, field: "dns_suffix"},
		"another plan":  {r: cluster.CreateRequest{PlanHash: "abc", Request: layout.Request{Template: "web", Size: 2}}, code: app.EConflict},
		"too few nodes": {r: cluster.CreateRequest{Request: layout.Request{Template: "web", Size: 1}}, code: app.ENoLayout},
	} {
		if c.actor.User == "" {
			c.actor = e.admin
		}
		_, err := e.app.Cluster.Creates.CreateCluster(t.Context(), c.actor, c.r)
		var ae *app.Error
		if !errors.As(err, &ae) || ae.Code != c.code || c.field != "" && ae.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	list, err := e.app.Cluster.Views.Clusters(t.Context(), e.admin, app.ClusterFilter{Deleted: true})
	if err != nil || len(list) != 0 {
		t.Errorf("%d clusters were accepted (%v)", len(list), err)
	}
}
