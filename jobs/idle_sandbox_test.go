package jobs_test

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/idle"
	"muster/app/template"
	"muster/jobs"
	"muster/jobs/remote"
	"muster/providers/sandbox"
)

// used waits until a cluster is used as it should be, and does meanwhile what is due.
func (e *engine) used(id, what string, is func(v idle.View) bool) idle.View {
	e.Helper()
	deadline := time.Now().Add(hangs)
	for {
		if _, err := e.app.Idle.RunIdle(e.ctx); err != nil {
			e.Fatal(err)
		}
		v, err := e.app.Idle.ClusterIdle(e.ctx, e.admin, id)
		if err != nil {
			e.Fatal(err)
		}
		if is(v) {
			return v
		}
		if time.Now().After(deadline) {
			e.Fatalf("the cluster isn't %s: %+v", what, v)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// becomes waits until the cluster's use is known by a reason, or by the absence of any where it is "".
func (e *engine) becomes(id, reason string) idle.View {
	e.Helper()
	return e.used(id, "in use by "+reason, func(v idle.View) bool {
		if reason == "" {
			return !v.IdleSince.IsZero()
		}
		return v.State == "in_use" && slices.ContainsFunc(v.Reasons, func(r string) bool { return strings.Contains(r, reason) })
	})
}

// Each condition is found to be true and false on real machines, and a cluster that no one uses is warned of and put to sleep; what is done in between
// keeps it awake.
func TestIdleClustersAreFoundAndSleep(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, text, _ := net.SplitHostPort(listener.Addr().String())
	port, _ := strconv.Atoi(text)
	p := jobs.OpenSandbox(t, "cloud", sandbox.ModeProcess)
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		sleepers(e, c)
		e.keys, e.clouds = remote.Keys{}, boxes{p}
		asleep := 0.1
		c.Hardware["small"].Providers["cloud"] = template.Flavor{Flavor: "small", CostPerHour: 0.5, AsleepCostPerHour: &asleep}
		c.Images["linux"].Providers["cloud"] = template.Image{Image: sandbox.HostImage}
		c.Templates["web"].Idle = &template.IdlePolicy{After: 2 * time.Second, Grace: time.Second, If: template.IdleConditions{
			NoSSH: true, LoadBelow: 1000, NoConnections: []int{port}, GPUBelow: 100,
			Script: `[ ! -e '` + e.effect + `.'"$MUSTER_NODE" ] || { echo "$MUSTER_SERVICES works"; exit 1; }`}}
	})
	e.keepHealth()
	if err := os.WriteFile(e.effect+".n2", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	e.becomes(v.ID, "n2: the script says: ")
	if err := os.Remove(e.effect + ".n2"); err != nil {
		t.Fatal(err)
	}
	e.becomes(v.ID, "")

	secrets, err := e.store.ClusterSecrets(t.Context(), app.DefaultTenant, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	n := v.Nodes[0]
	person, err := remote.Dial(t.Context(), remote.Target{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: n.SSHUser, HostKey: n.HostKey,
		PrivateKey: secrets.PrivateKey})
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	if in := e.becomes(v.ID, n.Name+": an SSH connection from 127.0.0.1"); len(in.Reasons) != 1 {
		t.Errorf("in use by %q", in.Reasons)
	}
	person.Close()
	e.becomes(v.ID, "")

	client, err := net.Dial("tcp", net.JoinHostPort(n.Address(app.AddressBind), text))
	if err != nil {
		t.Fatal(err)
	}
	e.becomes(v.ID, "1 connection to port "+text)
	client.Close()

	// Someone keeps it after the warning.
	e.used(v.ID, "warned", func(v idle.View) bool { return v.State == "warned" })
	kept, err := e.app.Idle.KeepCluster(t.Context(), e.admin, v.ID, time.Minute)
	if err != nil || kept.State != "in_use" || !kept.ActAt.IsZero() || kept.KeptBy != "ada" {
		t.Errorf("kept: %+v, %v", kept, err)
	}
	if again := e.becomes(v.ID, ""); again.WarnAt.Before(kept.KeptUntil) {
		t.Errorf("kept until %s, and warned at %s", kept.KeptUntil, again.WarnAt)
	}
	// No longer kept, it sleeps, and what that saves is counted.
	if err := e.store.ChangeIdle(t.Context(), idle.Change{Tenant: app.DefaultTenant, Cluster: v.ID, Who: e.admin, Now: time.Now(),
		Until: time.Now()}); err != nil {
		t.Fatal(err)
	}
	e.used(v.ID, "asleep", func(v idle.View) bool { return v.Status == string(app.ClusterAsleep) })
	now, err := e.app.Cluster.Views.Cluster(t.Context(), e.admin, v.ID)
	if err != nil || now.Operations[0].Requester != app.IdleUser {
		t.Errorf("%+v, %v", now.Operations, err)
	}
	saved, err := e.app.Idle.IdleSavings(t.Context(), e.admin, time.Time{}, time.Time{})
	if err != nil || len(saved.Lines) != 1 || saved.Lines[0].PerHour != 0.8 || !saved.Lines[0].Until.IsZero() || saved.Lines[0].From.IsZero() {
		t.Errorf("saved %+v, %v", saved, err)
	}
	if _, err := e.app.Operation.Sleeping.WakeCluster(t.Context(), e.admin, v.ID, ""); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterActive)
	if saved, err = e.app.Idle.IdleSavings(t.Context(), e.admin, time.Time{}, time.Time{}); err != nil || len(saved.Lines) != 1 || saved.Lines[0].Until.IsZero() {
		t.Errorf("after it woke: %+v, %v", saved, err)
	}
	titles := []string{}
	notices, err := e.store.Notices(t.Context(), app.DefaultTenant, 0, 100)
	for _, n := range notices {
		if n.Kind == app.NoticeIdle {
			titles = append(titles, n.Title)
		}
	}
	if err != nil || !slices.Contains(titles, "web is idle and will go to sleep in 1 s.") || !slices.Contains(titles, "web is going to sleep because it's idle.") {
		t.Errorf("notices %q, %v", titles, err)
	}
}
