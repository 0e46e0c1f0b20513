package static

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

func spec(t testing.TB, intent string) family.MachineSpec {
	s, _ := harness.Spec(t, intent)
	return s
}

func create(t testing.TB, p *provider, intent string) family.Machine {
	t.Helper()
	m, err := p.Create(t.Context(), spec(t, intent))
	if err != nil {
		t.Fatalf("create %s: %v", intent, err)
	}
	return m
}

func wantCode(t testing.TB, what string, err error, code app.Code, says string) {
	t.Helper()
	if app.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v (code %q), want code %q and %q", what, err, app.CodeOf(err), code, says)
	}
}

func listed(t testing.TB, p *provider) []string {
	t.Helper()
	ms, err := p.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, m := range ms {
		ids = append(ids, m.ID)
	}
	return ids
}

// Two workers with one inventory and nothing else in common.
func TestLastMachineIsUsedOnce(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	a, b := f.open(t, f.settings(""), t.TempDir()), f.open(t, f.settings(""), t.TempDir())
	for round := range 5 {
		var work sync.WaitGroup
		var errs [2]error
		var made [2]family.Machine
		for i, p := range []*provider{a, b} {
			s := spec(t, fmt.Sprintf("last-%d-%d", round, i))
			work.Go(func() { made[i], errs[i] = p.Create(t.Context(), s) })
		}
		work.Wait()
		winner := slices.Index(errs[:], nil)
		if winner < 0 || errs[1-winner] == nil {
			t.Fatalf("round %d: %v, %v", round, errs[0], errs[1])
		}
		wantCode(t, "the other", errs[1-winner], app.ECapacity, "The only machine of flavor standard is in use")
		if ids := listed(t, b); !slices.Equal(ids, []string{made[winner].ID}) {
			t.Errorf("listed %v, made %s", ids, made[winner].ID)
		}
		if err := []*provider{a, b}[1-winner].Delete(t.Context(), made[winner].ID); err != nil {
			t.Fatal(err)
		}
	}
	if left := f.left(); len(left) > 0 {
		t.Error(left)
	}
}

func TestConcurrentCreatesOfOneIntent(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 3)
	a, b := f.open(t, f.settings(""), t.TempDir()), f.open(t, f.settings(""), t.TempDir())
	s := spec(t, "one")
	// b takes its machine between a's look and a's taking: the first machine was not free then.
	blocker := create(t, b, "blocker")
	var other family.Machine
	a.after = func(part string) error {
		if part != "taken" {
			return nil
		}
		a.after = func(string) error { return nil }
		if err := b.Delete(t.Context(), blocker.ID); err != nil {
			return err
		}
		// Another worker that has not seen a's machine takes the first one.
		views, err := b.probeAll(t.Context())
		if err != nil {
			return err
		}
		w, _ := b.requirements(s)
		v, err := b.take(t.Context(), views, w, s)
		if err != nil || v == nil || v.name != "m1" {
			t.Errorf("b took %+v, %v", v, err)
		}
		return err
	}
	made, err := a.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if other, err = b.Create(t.Context(), s); err != nil || other.ID != made.ID || !strings.HasPrefix(made.ID, "m1~") {
		t.Errorf("made %s, and then %s (%v)", made.ID, other.ID, err)
	}
	if ids := listed(t, a); !slices.Equal(ids, []string{made.ID}) {
		t.Errorf("listed %v", ids)
	}
	empty(t, a)
	if left := f.left(); len(left) > 0 {
		t.Error(left)
	}
}

var errKilled = errors.New("killed")

// Whatever part a worker is killed after, another one finds one machine of the intent and continues, and a machine is never free before it is wiped.
func TestCrashes(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 2)
	settings := f.settings("", "wipe", wipeHome, "prepare", `echo x >"$MUSTER_HOME/prepared"`)
	for _, part := range []string{"taken", "prepared"} {
		s := spec(t, "half-"+part)
		a := f.open(t, settings, t.TempDir())
		a.after = func(at string) error {
			if at == part {
				return errKilled
			}
			return nil
		}
		if _, err := a.Create(t.Context(), s); !errors.Is(err, errKilled) {
			t.Fatalf("%s: %v", part, err)
		}
		b := f.open(t, settings, t.TempDir())
		half := listed(t, b)
		if len(half) != 1 {
			t.Fatalf("%s: listed %v", part, half)
		}
		got, err := b.Describe(t.Context(), half[0])
		if err != nil || got.State != family.MachineStarting || got.Tags[family.TagIntent] != s.Intent {
			t.Errorf("%s: %+v, %v", part, got, err)
		}
		m, err := b.Create(t.Context(), s)
		if err != nil || m.ID != half[0] || m.State != family.MachineRunning {
			t.Fatalf("%s: %+v, %v", part, m, err)
		}
		if f.boxes[0].read(f.boxes[0].home+"/prepared") == "" || !strings.Contains(f.boxes[0].read(f.boxes[0].home+"/.ssh/authorized_keys"), s.AuthorizedKey) {
			t.Errorf("%s: it was not made ready", part)
		}
		empty(t, b)
		if left := f.left(); len(left) > 0 {
			t.Fatal(part, left)
		}
	}
	for _, part := range []string{"marked", "wiped"} {
		a := f.open(t, settings, t.TempDir())
		m := create(t, a, "gone-"+part)
		f.boxes[0].write(t, f.boxes[0].home+"/theirs", "private")
		a.after = func(at string) error {
			if at == part {
				return errKilled
			}
			return nil
		}
		if err := a.Delete(t.Context(), m.ID); !errors.Is(err, errKilled) {
			t.Fatalf("%s: %v", part, err)
		}
		b := f.open(t, settings, t.TempDir())
		got, err := b.Describe(t.Context(), m.ID)
		if err != nil || got.State != family.MachineStopped || !strings.Contains(got.Note, "being wiped") {
			t.Errorf("%s: %+v, %v", part, got, err)
		}
		if keys := f.boxes[0].read(f.boxes[0].home + "/.ssh/authorized_keys"); strings.Contains(keys, marker) {
			t.Errorf("%s: who had it comes in still", part)
		}
		// The other machine is free; the one that is not wiped comes only when there is no other.
		if n := create(t, b, "next-"+part); !strings.HasPrefix(n.ID, "m2~") {
			t.Errorf("%s: %s was handed out", part, n.ID)
		}
		n := create(t, b, "after-"+part)
		if !strings.HasPrefix(n.ID, "m1~") || n.ID == m.ID || f.boxes[0].read(f.boxes[0].home+"/theirs") != "" {
			t.Errorf("%s: %s was handed out with what was on it", part, n.ID)
		}
		if err := b.Delete(t.Context(), m.ID); err != nil {
			t.Error(err)
		}
		if ids := listed(t, b); len(ids) != 2 {
			t.Errorf("%s: deleting what is gone left %v", part, ids)
		}
		empty(t, b)
		if left := f.left(); len(left) > 0 {
			t.Fatal(part, left)
		}
	}
}

func TestWipeFailure(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	s := f.settings("", "wipe", `test -e "$MUSTER_HOME/allowed" || { echo the tape is jammed; exit 3; }; rm "$MUSTER_HOME/allowed"`)
	p := f.open(t, s, t.TempDir())
	m := create(t, p, "dirty")
	for range 2 {
		wantCode(t, "delete", p.Delete(t.Context(), m.ID), app.ETransient, "the tape is jammed; exit code 3")
	}
	got, err := p.Describe(t.Context(), m.ID)
	if err != nil || got.State != family.MachineStopped || !strings.Contains(got.Note, "jammed") {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = p.Create(t.Context(), spec(t, "another"))
	wantCode(t, "create", err, app.ECapacity, "m1 was released but not wiped")
	found, err := p.CheckAccount(t.Context(), family.AccountNeeds{})
	if err != nil || !slices.ContainsFunc(found, func(f family.Finding) bool { return f.Warning && strings.Contains(f.Message, "not wiped") }) {
		t.Errorf("%+v, %v", found, err)
	}
	f.boxes[0].write(t, f.boxes[0].home+"/allowed", "")
	if err := p.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if left := f.left(); len(left) > 0 {
		t.Error(left)
	}
	s["wipe"], s["wipe_time"] = "sleep 30", "1"
	slow := f.open(t, s, t.TempDir())
	m = create(t, slow, "slow")
	wantCode(t, "delete", slow.Delete(t.Context(), m.ID), app.ETransient, "exit code 124")
	empty(t, p2(f, t))
}

func p2(f *farm, t *testing.T) *provider { return f.open(t, f.settings(""), t.TempDir()) }

func TestPrepareFailure(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	p := f.open(t, f.settings("", "prepare", "#!/bin/sh\necho no network; exit 4"), t.TempDir())
	s := spec(t, "p")
	for range 2 {
		_, err := p.Create(t.Context(), s)
		wantCode(t, "create", err, app.ETransient, "no network; exit code 4")
	}
	if ids := listed(t, p); len(ids) != 1 {
		t.Errorf("listed %v", ids)
	}
	empty(t, p)
	if left := f.left(); len(left) > 0 {
		t.Error(left)
	}
}

func TestUnreachableMachines(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 2)
	dir := t.TempDir()
	p := f.open(t, f.settings(""), dir)
	m := create(t, p, "here")
	f.boxes[0].stop()
	again := f.open(t, f.settings(""), dir) // another process of the same host
	for _, p := range []*provider{p, again} {
		got, err := p.Describe(t.Context(), m.ID)
		if err != nil || got.State != family.MachineStopped || !strings.Contains(got.Note, "last known state") || got.Tags[family.TagIntent] != "here" || got.HostKey != m.HostKey {
			t.Errorf("%+v, %v", got, err)
		}
		if ids := listed(t, p); !slices.Equal(ids, []string{m.ID}) {
			t.Errorf("listed %v", ids)
		}
		wantCode(t, "delete", p.Delete(t.Context(), m.ID), app.ETransient, "Machine m1 isn't responding")
	}
	if n, err := p.Create(t.Context(), spec(t, "here")); err != nil || n.ID != m.ID || n.State != family.MachineStopped {
		t.Errorf("its intent again: %+v, %v", n, err)
	}
	n := create(t, p, "there")
	if !strings.HasPrefix(n.ID, "m2~") {
		t.Errorf("%+v", n)
	}
	_, err := p.Create(t.Context(), spec(t, "nowhere"))
	wantCode(t, "create", err, app.ECapacity, "m1 can't be used: Machine m1 isn't responding")

	// Who has never seen it cannot tell what it is used for.
	stranger := f.open(t, f.settings(""), t.TempDir())
	_, err = stranger.List(t.Context(), nil)
	wantCode(t, "list", err, app.ETransient, "Machine m1 isn't responding")
	_, err = stranger.Create(t.Context(), spec(t, "new"))
	wantCode(t, "create", err, app.ETransient, "Machine m1 isn't responding")
	_, err = stranger.Describe(t.Context(), m.ID)
	wantCode(t, "describe", err, app.ETransient, "Machine m1 isn't responding")

	out := f.settings("")
	out["machines"] = strings.Replace(out["machines"].(string), "m1 127.0.0.1", "m1 127.0.0.1 out", 1)
	stranger = f.open(t, out, t.TempDir())
	if ids := listed(t, stranger); !slices.Equal(ids, []string{n.ID}) {
		t.Errorf("without it: %v", ids)
	}
	wantCode(t, "delete", stranger.Delete(t.Context(), m.ID), app.ETransient, "out of service")
	known := f.open(t, out, dir)
	if got, err := known.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStopped || !strings.Contains(got.Note, "out of service") {
		t.Errorf("%+v, %v", got, err)
	}
	wantCode(t, "delete", known.Delete(t.Context(), m.ID), app.ETransient, "out of service")

	f.boxes[0].start(t, f.boxes[0].address())
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineRunning {
		t.Errorf("back again: %+v, %v", got, err)
	}
	empty(t, p)
	if left := f.left(); len(left) > 0 {
		t.Error(left)
	}
}

func TestHangingMachine(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 2)
	p := f.open(t, f.settings(""), t.TempDir())
	m := create(t, p, "hangs")
	p.pool.Patience(quick)
	f.boxes[0].silent.Store(true)
	f.boxes[0].cut()
	began := time.Now()
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStopped {
		t.Errorf("%+v, %v", got, err)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it was waited for %s", took)
	}
	p.pool.Patience(5 * time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), quick)
	defer cancel()
	if _, err := p.List(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("list: %v", err)
	}
}

// A connection that is cut is made again, and host keys and our own key are looked at each time.
func TestConnections(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	p := f.open(t, f.settings(""), t.TempDir())
	m := create(t, p, "kept")
	before := f.handshakes.most.Load()
	for range 3 {
		f.boxes[0].cut()
		if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineRunning {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if f.handshakes.most.Load() > before {
		t.Error("several handshakes at once with one machine")
	}
	right := f.boxes[0].host
	f.boxes[0].cut()
	other, _ := newKey(t)
	f.boxes[0].show(other)
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStopped || !strings.Contains(got.Note, "couldn't prove") {
		t.Errorf("%+v, %v", got, err)
	}
	wantCode(t, "delete", p.Delete(t.Context(), m.ID), app.EHostKey, "couldn't prove that it's m1")
	f.boxes[0].show(right)
	f.boxes[0].refuse.Store(true)
	wantCode(t, "delete", p.Delete(t.Context(), m.ID), app.ECredentials, "refused the account's key")
	f.boxes[0].refuse.Store(false)
	empty(t, p)
}

func TestPinning(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	s := f.settings("", "unknown_host_keys", "pin")
	line := s["machines"].(string)
	s["machines"] = line[:strings.Index(line, "host_key=")]
	dir := t.TempDir()
	p := f.open(t, s, dir)
	m := create(t, p, "pinned")
	if want := providertest.AuthorizedKey(f.boxes[0].host.PublicKey()); m.HostKey != want {
		t.Errorf("host key %q, want %q", m.HostKey, want)
	}
	f.boxes[0].cut()
	other, _ := newKey(t)
	f.boxes[0].show(other)
	again := f.open(t, s, dir)
	wantCode(t, "delete", again.Delete(t.Context(), m.ID), app.EHostKey, "couldn't prove that it's m1")
	if _, err := open(map[string]any{"machines": s["machines"], "ssh_key": f.pem}, Env{}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("without pinning: %v", err)
	}
	fresh := f.open(t, s, t.TempDir())
	empty(t, fresh)
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	p := f.open(t, f.settings(""), t.TempDir())
	s := spec(t, "pool-1")
	m, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	next := spec(t, "pool-1")
	next.Hostname = "web1.example.org"
	next.Tags[family.TagCluster] = "c2"
	for range 2 {
		if err := p.Adopt(t.Context(), m.ID, next); err != nil {
			t.Fatal(err)
		}
	}
	got, err := p.Describe(t.Context(), m.ID)
	if err != nil || got.Hostname != next.Hostname || got.Tags[family.TagCluster] != "c2" || got.ID != m.ID || !got.CreatedAt.Equal(m.CreatedAt) {
		t.Errorf("%+v, %v", got, err)
	}
	keys := f.boxes[0].read(f.boxes[0].home + "/.ssh/authorized_keys")
	if strings.Contains(keys, blob(s.AuthorizedKey)) || strings.Count(keys, blob(next.AuthorizedKey)) != 1 || strings.Count(keys, "\n") != 2 {
		t.Errorf("let in:\n%s", keys)
	}
	if name := strings.TrimSpace(f.boxes[0].read(f.boxes[0].root + "/name")); name != next.Hostname {
		t.Errorf("it is called %s", name)
	}
	other := spec(t, "pool-2")
	wantCode(t, "adopt for another intent", p.Adopt(t.Context(), m.ID, other), app.EInvalid, "another intent")
	wantCode(t, "adopt what is not there", p.Adopt(t.Context(), "m1~none", next), app.ENotFound, "")
	// What those who had it certified goes with their key.
	f.boxes[0].write(t, f.boxes[0].home+"/.ssh/authorized_keys", keys+"cert-authority "+next.AuthorizedKey+" x")
	empty(t, p)
	if left := f.left(); len(left) > 0 {
		t.Error(left)
	}
}

func TestChoosing(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 4)
	s := f.settings("")
	var lines strings.Builder
	for i, shellwords := range []string{"flavor=big zone=a", "flavor=big zone=b ssd", "flavor=big zone=b ssd gpu=a100", "zone=c"} {
		lines.WriteString(f.boxes[i].line(shellwords))
	}
	s["machines"] = lines.String()
	p := f.open(t, s, t.TempDir())
	try := func(flavor, zone, labels string) (string, error) {
		w := spec(t, strings.Join([]string{"c", flavor, zone, strings.NewReplacer("=", "-", ",", "-").Replace(labels)}, "-"))
		w.Flavor, w.Zone = template.Flavor{Flavor: flavor, Extra: map[string]string{"labels": labels}}, zone
		m, err := p.Create(t.Context(), w)
		name, _, _ := strings.Cut(m.ID, "~")
		return name, err
	}
	for _, c := range []struct{ flavor, zone, labels, want string }{
		{"big", "", "gpu=a100,ssd", "m3"}, {"big", "b", "", "m2"}, {"big", "", "", "m1"}, {"", "", "", "m4"},
	} {
		if got, err := try(c.flavor, c.zone, c.labels); err != nil || got != c.want {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
	_, err := try("big", "b", "ssd")
	wantCode(t, "no more", err, app.ECapacity, "All 2 machines of flavor big, zone b, labels ssd are in use.")
	_, err = try("big", "c", "")
	wantCode(t, "none of the kind", err, app.ECapacity, "No machine in the inventory has flavor big, zone c.")
	offers, err := p.Offers(t.Context())
	if err != nil || len(offers.Flavors) != 2 || offers.Flavors[0].Description != "3 machines" || !slices.Equal(offers.Flavors[0].Zones, []string{"a", "b"}) || !slices.Equal(offers.Zones, []string{"a", "b", "c"}) {
		t.Errorf("%+v, %v", offers, err)
	}
	empty(t, p)
}

// Users other than root become root by sudo; without it, everything is in their home and the machine keeps its name.
func TestUsers(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	f.boxes[0].shim(t, "sudo", `[ "$1" = -n ] || exit 1; shift; echo used >>"$MUSTER_STATIC_ROOT/sudo"; exec "$@"`)
	f.boxes[0].shim(t, "chown", "exit 0")
	p := f.open(t, f.settings("user=ops"), t.TempDir())
	m := create(t, p, "sudo")
	if m.SSHUser != "ops" || f.boxes[0].read(f.boxes[0].root+"/sudo") == "" || f.boxes[0].record() == "" {
		t.Errorf("%+v", m)
	}
	empty(t, p)
	f.boxes[0].shim(t, "sudo", "exit 1")
	p = f.open(t, f.settings("user=ops", "sudo", "false"), t.TempDir())
	m = create(t, p, "plain")
	if f.boxes[0].read(f.boxes[0].home+"/.muster/checkout/record") == "" || strings.TrimSpace(f.boxes[0].read(f.boxes[0].root+"/name")) != "m1" {
		t.Errorf("%+v", m)
	}
	empty(t, p)
}

func TestHandshakesAreBounded(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 12)
	p := f.open(t, f.settings(""), t.TempDir())
	p.pool = newPoolOf(p, 3)
	if ids := listed(t, p); len(ids) != 0 {
		t.Error(ids)
	}
	if n := f.handshakes.most.Load(); n > 3 || n < 1 {
		t.Errorf("%d handshakes at once, want at most 3", n)
	}
}

// A record is written only where there is none, and replaced only by who knows it.
func TestRecordsAreNotOverwritten(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	p := f.open(t, f.settings(""), t.TempDir())
	m := p.machines[0]
	for i, c := range []struct {
		body, after string
		exit        int
	}{
		{takeScript("one"), "one", 0}, {takeScript("two"), "one", exitChanged},
		{changeScript("two", "three", "", ""), "one", exitChanged}, {changeScript("one", "three", "", ""), "three", 0},
		{finishScript("one", &record{}), "three", exitChanged}, {runScript("one", "", "exit 1", time.Minute), "three", exitChanged}, {finishScript("three", &record{}), "", 0},
	} {
		if _, exit, err := p.run(t.Context(), m, c.body); err != nil || exit != c.exit || strings.TrimSpace(f.boxes[0].record()) != c.after {
			t.Errorf("%d: exit %d, %v, record %q, want %d and %q", i, exit, err, f.boxes[0].record(), c.exit, c.after)
		}
	}
}
