//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/fleet"
	"muster/app/layout"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
	"muster/jobs/coordinator"
	rest "muster/portal/client"
	"muster/providers/fake"
)

// fleetServer is a server without workers of its own, a cloud whose nodes are folders, and provisioners as processes.
type fleetServer struct {
	*testing.T
	server *server.Server
	nodes  *fake.Nodes
	effect string // where the service's scripts write
	token  string
	log    *safeBuffer
	redis  string // what provisioners are notified of; "": nothing
	// command starts provisioners; nil is exec.Command.
	command func(name string, args ...string) *exec.Cmd
}

const slowService = `
kind: service
name: slow
actions:
  start: |
    echo "$MUSTER_CLUSTER/$MUSTER_NODE $(date +%%s%%N)" >>%[1]s/begun
    n=0
    while [ -e %[1]s/hold ] && [ "$(grep -c "^$MUSTER_CLUSTER/$MUSTER_NODE " %[1]s/begun)" = 1 ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done
    echo "$MUSTER_NODE" >>%[1]s/done
`

func newFleetServer(t *testing.T, provider string, change ...func(*server.Config)) *fleetServer {
	t.Helper()
	dir := t.TempDir()
	nodes := fake.NewNodes(filepath.Join(dir, "nodes"))
	t.Cleanup(func() { _ = nodes.Close() })
	cloud := fake.New("cloud")
	cloud.Bind(nodes.Bind)
	account := httptest.NewServer(cloud.Serve("secret-of-the-cloud"))
	t.Cleanup(account.Close)
	w := &fleetServer{T: t, nodes: nodes, effect: filepath.Join(dir, "effect"), log: &safeBuffer{}}
	catalog := filepath.Join(dir, "catalog")
	for _, d := range []string{w.effect, catalog} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := "kind: provider\nname: cloud\ntype: fake\nsettings: {url: " + account.URL + ", secret: secret-of-the-cloud}\n" + provider + `---
kind: hardware
name: small
providers: {cloud: {flavor: s}}
---
kind: image
name: linux
providers: {cloud: {image: i}}
---` + fmt.Sprintf(slowService, w.effect) + `---
kind: template
name: slow
defaults: {services: [slow], provider: cloud}
constraints: {size: {min: 1, max: 20}}
`
	if err := os.WriteFile(filepath.Join(catalog, "all.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	config := server.Config{Data: filepath.Join(dir, "server"), Listen: "127.0.0.1:0", Catalogs: []string{catalog},
		TLS: server.TLSConfig{Self: true}, Log: cli.NewLogger(w.log, slog.LevelInfo), Env: os.LookupEnv}
	for _, f := range change {
		f(&config)
	}
	w.server, err = server.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- w.server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if err := w.server.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the server said:\n%s", w.log)
		}
	})
	w.grant("test", fleet.ProvisionerGrant{Tenants: []string{fleet.AllTenants}})
	// Commands read the address and the token from this file, which the server writes once it runs.
	for deadline := time.Now().Add(hangs); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(w.server.Data, cli.ClientFile)); err == nil {
			return w
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server has written no %s", cli.ClientFile)
		}
	}
}

func (w *fleetServer) admin(tenant string) app.Actor {
	return app.Actor{Tenant: cmp.Or(tenant, app.DefaultTenant), User: "ada", Role: app.RoleSuperadmin}
}

// helper is a provisioner as a process.
type helper struct {
	w    *fleetServer
	name string
	cmd  *exec.Cmd
	out  *safeBuffer
	once sync.Once
	end  error
}

// start begins a provisioner and waits until it is registered.
func (w *fleetServer) start(name string, args ...string) *helper {
	w.Helper()
	h := &helper{w: w, name: name, out: &safeBuffer{}}
	command := w.command
	if command == nil {
		command = exec.Command
	}
	h.cmd = command("muster", append([]string{"provisioner", "--server", w.server.URL, "--name", name, "--data", w.TempDir(), "--slots", "4"}, args...)...)
	h.cmd.Env = append(os.Environ(), server.TokenEnv+"="+w.token, "REDIS_URL="+w.redis)
	h.cmd.Stdout, h.cmd.Stderr = h.out, h.out
	if err := h.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = h.cmd.Process.Signal(syscall.SIGCONT)
		_ = h.cmd.Process.Kill()
		_ = h.wait()
		if w.Failed() {
			w.Logf("provisioner %s said:\n%s", name, h.out)
		}
	})
	w.until("provisioner "+name+" is registered", func() bool { return w.find(name) != nil })
	return h
}

func (h *helper) wait() error {
	h.once.Do(func() { h.end = h.cmd.Wait() })
	return h.end
}

// worker returns the process of a tenant's worker; 0 where there is none.
func (h *helper) worker(tenant string) int {
	children, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range children {
		b, err := os.ReadFile(f)
		fields := strings.Fields(string(b[max(bytes.LastIndexByte(b, ')'), 0):]))
		if err != nil || len(fields) < 3 || fields[2] != strconv.Itoa(h.cmd.Process.Pid) || fields[1] == "Z" {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		if strings.Contains(string(line), "\x00--tenant\x00"+tenant+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			return pid
		}
	}
	return 0
}

// find returns a provisioner that is alive.
func (w *fleetServer) find(name string) *app.Provisioner {
	all, err := w.server.Services.Fleet.Provisioners.Provisioners(w.Context(), w.admin(""))
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range all {
		if p.Name == name && p.State.Alive() {
			return &p
		}
	}
	return nil
}

func (w *fleetServer) until(what string, done func() bool) time.Duration {
	w.Helper()
	began := time.Now()
	for !done() {
		if time.Since(began) > hangs {
			w.Fatalf("not after %s: %s", hangs, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began)
}

func (w *fleetServer) create(tenant, name string, size int) cluster.View {
	w.Helper()
	v, err := w.server.Services.Cluster.Creates.CreateCluster(w.Context(), w.admin(tenant), cluster.CreateRequest{Name: name, Request: layout.Request{Template: "slow", Size: size}})
	if err != nil {
		w.Fatal(err)
	}
	return v
}

func (w *fleetServer) active(tenant, id string) {
	w.Helper()
	w.until(id+" is active", func() bool {
		v, err := w.server.Services.Cluster.Views.Cluster(w.Context(), w.admin(tenant), id)
		if err != nil {
			w.Fatal(err)
		}
		if v.Status == app.ClusterFailed {
			w.Fatalf("%s failed: %s", id, v.Message)
		}
		return v.Status == app.ClusterActive
	})
}

// hold lets the start of each node wait until release is called.
func (w *fleetServer) hold() (release func()) {
	file := filepath.Join(w.effect, "hold")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		w.Fatal(err)
	}
	return func() { _ = os.Remove(file) }
}

func (w *fleetServer) lines(file string) int {
	b, _ := os.ReadFile(filepath.Join(w.effect, file))
	return bytes.Count(b, []byte("\n"))
}

// tries is the running attempt of the service's action; 0 for none. What runs on the node is taken over by it,
// not begun again.
func (w *fleetServer) tries(id string) int {
	steps, err := w.server.Services.Cluster.Activity.Steps(w.Context(), w.admin(""), id, 0)
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range steps {
		if s.Action == app.ActionStart && s.State == app.StepRunning {
			return s.Attempt
		}
	}
	return 0
}

// onceOnly checks that the action took effect once, no matter which worker ran it in the end.
func (w *fleetServer) onceOnly() {
	w.Helper()
	if begun, done := w.lines("begun"), w.lines("done"); begun != 1 || done != 1 {
		w.Errorf("the action was begun %d times and done %d times", begun, done)
	}
}

func TestProvisionerServesEveryTenant(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "")
	_, err := w.server.Services.Cluster.Creates.CreateCluster(t.Context(), w.admin(""), cluster.CreateRequest{Name: "x", Request: layout.Request{Template: "slow", Size: 1}})
	if e := app.AsError(err); e.Reason != "no_provisioner" {
		t.Fatalf("without a server, the answer is %v", err)
	}
	h := w.start("h1")
	release := w.hold() // an idle worker ends soon, so both are looked at while they work
	defer release()
	created := map[string]string{}
	for i, tenant := range []string{app.DefaultTenant, "other"} {
		began := time.Now()
		created[tenant] = w.create(tenant, "c", 1).ID
		w.until("the first step of "+tenant+" has begun", func() bool { return w.lines("begun") == i+1 })
		t.Logf("first step of a new tenant after %s", time.Since(began).Round(time.Millisecond))
	}
	// Each tenant has a process of its own, and nothing of what it knows can be read from outside.
	one, other := h.worker(app.DefaultTenant), h.worker("other")
	if one == 0 || other == 0 || one == other {
		t.Fatalf("workers: %d, %d", one, other)
	}
	for _, file := range []string{"cmdline", "environ"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", one, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{w.token[:20], "mw_", "secret-of-the-cloud"} {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s of the worker holds %s", file, secret)
			}
		}
	}
	release()
	for tenant, id := range created {
		w.active(tenant, id)
	}
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := h.wait(); err != nil {
		t.Errorf("the provisioner did not end well: %v", err)
	}
	if p := w.find("h1"); p != nil {
		t.Errorf("it ended and is still there: %+v", p)
	}
}

func TestWorkersWithoutTheirRedisAskTheServer(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "")
	w.redis = "redis://127.0.0.1:1/0" // no one is there
	w.start("h1")
	began := time.Now()
	v := w.create("", "c", 5)
	w.active("", v.ID)
	t.Logf("5 nodes after %s", time.Since(began).Round(time.Millisecond))
}

func TestKilledWorkersStepIsTakenAgain(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "")
	h := w.start("h1")
	release := w.hold()
	defer release()
	v := w.create("", "c", 1)
	w.until("the step has begun", func() bool { return w.lines("begun") == 1 })
	killed := time.Now()
	if err := syscall.Kill(h.worker(app.DefaultTenant), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.until("the step is taken again", func() bool { return w.tries(v.ID) >= 2 })
	t.Logf("taken again %s after the worker was killed", time.Since(killed).Round(time.Millisecond))
	release()
	w.active("", v.ID)
	w.onceOnly()
}

func TestKilledProvisionersStepIsTakenByAnother(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "")
	h := w.start("h1")
	release := w.hold()
	defer release()
	v := w.create("", "c", 1)
	w.until("the step has begun", func() bool { return w.lines("begun") == 1 })
	w.start("h2")
	worker := h.worker(app.DefaultTenant)
	killed := time.Now()
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.wait()
	w.until("the worker has died with its provisioner", func() bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", worker))
		return err != nil || strings.Contains(string(b), ") Z ")
	})
	w.until("the slots are another's", func() bool { return w.find("h1") == nil })
	t.Logf("counted as gone after %s", time.Since(killed).Round(time.Millisecond))
	w.until("the step is taken by the other", func() bool { return w.tries(v.ID) >= 2 })
	t.Logf("taken again %s after the provisioner was killed", time.Since(killed).Round(time.Millisecond))
	release()
	w.active("", v.ID)
	w.onceOnly()
}

func TestFrozenProvisionerRegistersAgain(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "")
	h := w.start("h1")
	before := w.find("h1").ID
	if err := h.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.until("it counts as gone", func() bool { return w.find("h1") == nil })
	if err := h.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.until("it is registered again", func() bool { p := w.find("h1"); return p != nil && p.ID != before })
	v := w.create("", "c", 1)
	w.active("", v.ID)
}

func TestDrainLetsStepsEndAndBeginsNone(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "")
	h := w.start("h1", "--slots", "1")
	release := w.hold()
	v := w.create("", "c", 2)
	w.until("a step has begun", func() bool { return w.lines("begun") == 1 })
	if _, err := w.server.Services.Fleet.Provisioners.DrainProvisioner(t.Context(), w.admin(""), "h1"); err != nil {
		t.Fatal(err)
	}
	w.until("it knows", func() bool { return strings.Contains(h.out.String(), "asked this provisioner to shut down") })
	release()
	if err := h.wait(); err != nil {
		t.Errorf("the provisioner did not end well: %v", err)
	}
	if begun, done := w.lines("begun"), w.lines("done"); begun != 1 || done != 1 {
		t.Errorf("%d begun, %d done", begun, done)
	}
	w.start("h2")
	w.active("", v.ID)
	if done := w.lines("done"); done != 2 {
		t.Errorf("%d done in the end", done)
	}
}

func TestStepsLongerThanTheDrainAreGivenBack(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "")
	h := w.start("h1", "--drain", "300ms")
	release := w.hold()
	defer release()
	v := w.create("", "c", 1)
	w.until("the step has begun", func() bool { return w.lines("begun") == 1 })
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := h.wait(); err != nil {
		t.Errorf("the provisioner did not end well: %v", err)
	}
	w.start("h2")
	w.until("the step is taken by another at once", func() bool { return w.tries(v.ID) >= 2 })
	release()
	w.active("", v.ID)
	w.onceOnly()
}

// grant makes the token that provisioners have from then on.
func (w *fleetServer) grant(name string, g fleet.ProvisionerGrant) {
	w.Helper()
	var err error
	if w.token, err = w.server.Services.Fleet.Provisioners.CreateProvisionerToken(w.Context(), w.admin(""), name, g); err != nil {
		w.Fatal(err)
	}
	w.token += "." + w.server.Fingerprint
}

func TestProviderAsksForTags(t *testing.T) {
	w := newFleetServer(t, "provisioner: {region: eu}\n")
	w.grant("us", fleet.ProvisionerGrant{Tenants: []string{fleet.AllTenants}, Tags: map[string]string{"region": "us"}})
	w.start("us", "--tag", "region=us")
	_, err := w.server.Services.Cluster.Creates.CreateCluster(t.Context(), w.admin(""), cluster.CreateRequest{Name: "x", Request: layout.Request{Template: "slow", Size: 1}})
	e := app.AsError(err)
	if e.Reason != "no_provisioner" || !strings.Contains(e.Message, "region=eu") || !strings.Contains(e.Message, "us (region=us)") {
		t.Fatalf("%v", err)
	}
	w.grant("eu", fleet.ProvisionerGrant{Tenants: []string{fleet.AllTenants}, Tags: map[string]string{"region": "eu", "network": "lab"}})
	w.start("eu", "--tag", "region=eu", "--tag", "network=lab")
	v := w.create("", "c", 1)
	w.active("", v.ID)
	if p := w.find("us"); len(p.Tenants) > 0 {
		t.Errorf("the other one was given %+v", p.Tenants)
	}
}

func TestProvisionersThatAreNotWanted(t *testing.T) {
	w := newFleetServer(t, "")
	for name, c := range map[string]struct {
		env, say string
		args     []string
	}{
		"no token":          {env: server.TokenEnv + "=", say: "a token is required", args: []string{"--server", w.server.URL}},
		"a wrong token":     {env: server.TokenEnv + "=mp_nonsense." + w.server.Fingerprint, say: "invalid or has expired", args: []string{"--server", w.server.URL}},
		"plain http":        {env: server.TokenEnv + "=" + w.token, say: "isn't encrypted", args: []string{"--server", "http://192.0.2.1:8420"}},
		"not a URL":         {env: server.TokenEnv + "=" + w.token, say: "--server must be a URL", args: []string{"--server", "here"}},
		"a bad fingerprint": {env: server.TokenEnv + "=" + w.token, say: "isn't a CA fingerprint", args: []string{"--server", w.server.URL, "--ca-fingerprint", "sha256:12"}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), hangs)
		defer cancel()
		cmd := exec.CommandContext(ctx, "muster", append([]string{"provisioner", "--data", t.TempDir()}, c.args...)...)
		cmd.Env = append(os.Environ(), c.env)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.say) {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}

func TestAnotherCAIsNotTrusted(t *testing.T) {
	w := newFleetServer(t, "")
	other := server.FingerprintOf([]byte("another"))
	config, err := rest.Trust(other)
	if err != nil {
		t.Fatal(err)
	}
	r := remoteOf(w.server.URL, config)
	_, err = r.Register(t.Context(), fleet.Registration{Name: "x", Slots: 1})
	if app.CodeOf(err) != app.ETransient || !strings.Contains(err.Error(), rest.ErrWrongCA.Error()) {
		t.Errorf("%v", err)
	}
}

func remoteOf(url string, c *tls.Config) *coordinator.Remote {
	return &coordinator.Remote{URL: url, Token: func() string { return "t" }, HTTP: coordinator.NewHTTP(c)}
}

// A cancel reaches a worker on another host. That this is at once, and not with the worker's next heartbeat, the tests of jobs show by what was sent
// when: how long it takes on a busy host shows nothing.
func TestCancelReachesTheWorkerOfAProvisionerAtOnce(t *testing.T) {
	w := newFleetServer(t, "")
	w.start("h1")
	defer w.hold()()
	var slowest time.Duration
	for _, name := range []string{"a", "b", "c"} {
		_ = os.Remove(filepath.Join(w.effect, "begun")) // a node waits the first time only
		v := w.create("", name, 1)
		w.until("the action runs", func() bool { return w.tries(v.ID) == 1 && w.lines("begun") == 1 })
		if _, err := w.server.Services.Operation.Controls.CancelOperation(t.Context(), w.admin(""), v.ID, 0, false); err != nil {
			t.Fatal(err)
		}
		took := w.until("it has stopped", func() bool {
			v, err := w.server.Services.Cluster.Views.Cluster(t.Context(), w.admin(""), v.ID)
			return err == nil && v.Operations[0].Status == app.OperationCancelled
		})
		slowest = max(slowest, took)
	}
	t.Logf("the slowest of three stopped after %s; a heartbeat is due every 3.75 s", slowest)
}
