//go:build unix

package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
)

const hangs = 5 * time.Minute // reached only where something hangs

func TestEffectsAreCounted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "effects")
	if err := os.WriteFile(file, []byte("3|n1.store.install\n3|n1.store.start\n3|n1.store.install\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := readEffects([]string{file})
	if err != nil || d.lines != 3 || d.times[effectOf(3, "n1.store.install")] != 2 || d.times[effectOf(3, "n1.store.start")] != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	steps := map[string]app.Step{effectOf(3, "n1.store.install"): {StartedAt: at(1), EndedAt: at(2)}, effectOf(3, "n1.store.start"): {StartedAt: at(3), EndedAt: at(4), Attempt: 1}}
	clocks := &wrongClocks{}
	if late := d.late(steps, clocks.trusts); len(late) != 1 || !strings.Contains(late[0], "3|n1.store.install, which had finished, after 3|n1.store.start") {
		t.Errorf("late: %q", late)
	}
	clocks.begin(time.Until(at(3)))
	if late := d.late(steps, clocks.trusts); len(late) != 0 {
		t.Errorf("a wrong clock is believed: %q", late)
	}
	if err := os.WriteFile(file, []byte("3|n1.st"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readEffects([]string{file}); err == nil {
		t.Error("half a line is taken for an effect")
	}
}

func TestWrongStepsAreBlamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		state app.StepState
		op    app.OperationStatus
		times int
		want  string
	}{
		{"once", app.StepSucceeded, app.OperationSucceeded, 1, ""},
		{"begun and dropped", app.StepDropped, app.OperationCancelled, 1, ""},
		{"never begun", app.StepDropped, app.OperationCancelled, 0, ""},
		{"twice", app.StepSucceeded, app.OperationSucceeded, 2, twice},
		{"twice and then failed", app.StepFailed, app.OperationFailed, 2, twice},
		{"not at all", app.StepSucceeded, app.OperationSucceeded, 0, missing},
		{"waits for what failed", app.StepWaiting, app.OperationFailed, 0, ""},
		{"waits for nothing", app.StepWaiting, app.OperationCancelled, 0, lostOp},
		{"left over", app.StepQueued, app.OperationFailed, 0, lostOp},
	} {
		h := &harness{book: newBook()}
		did := done{times: map[string]int{effectOf(7, "n1.web.start"): c.times}}
		h.checkSteps("c", app.Operation{ID: 7, Status: c.op}, []app.Step{{ID: "n1.web.start", Service: "web", State: c.state}}, did, map[string]app.Step{})
		var got string
		if w := h.book.found(); len(w) > 0 {
			got = w[0].kind
		}
		if got != c.want {
			t.Errorf("%s: blamed for %q, want %q", c.name, got, c.want)
		}
	}
}

func TestStraysAreFound(t *testing.T) {
	machine := func(id, node string) family.Machine {
		return family.Machine{ID: id, Tags: map[string]string{family.TagNode: node}}
	}
	v := cluster.View{Nodes: []app.Node{
		{Name: "n1", Status: app.NodeReady, MachineID: "a"}, {Name: "n2", Status: app.NodeReady, MachineID: "b"},
		{Name: "n3", Status: app.NodeDeleted, MachineID: "c"}, {Name: "n4", Status: app.NodeReady, MachineID: "d"},
	}}
	violation := compare(v, []family.Machine{machine("a", "n1"), machine("c", "n3"), machine("d", "n4"), machine("e", "n4")})
	var text string
	for _, w := range violation {
		text += w.text + "\n"
	}
	for _, want := range []string{"machine b of node n2 doesn't exist", "n3 was released but has c", "n4 has e next to its own d"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if len(violation) != 3 {
		t.Errorf("%d are wrong:\n%s", len(violation), text)
	}
}

func TestFaultsFollowFromTheSeed(t *testing.T) {
	h := &harness{system: &system{}, fake: &fakeWorld{}}
	seen := map[string]bool{}
	for round := range uint64(500) {
		a, b := choose(h, rand.New(rand.NewPCG(5, round))), choose(h, rand.New(rand.NewPCG(5, round)))
		if a.name == "" || a.name != b.name {
			t.Fatalf("round %d: %q and %q", round, a.name, b.name)
		}
		seen[a.name] = true
	}
	for _, f := range faults {
		if f.can(h) != seen[f.name] {
			t.Errorf("%s: possible %t, seen %t", f.name, f.can(h), seen[f.name])
		}
	}
}

func TestProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // an echo; it ends with its listener and connections
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	p, err := newProxy(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	c, err := net.Dial("tcp", p.address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	echo := func(wait time.Duration) error {
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(wait))
		_, err := io.ReadFull(c, make([]byte, 1))
		return err
	}
	if err := echo(hangs); err != nil {
		t.Fatal(err)
	}
	p.blackHole(true)
	if err := echo(50 * time.Millisecond); err == nil {
		t.Error("something comes out of a black hole")
	}
	p.blackHole(false)
	_ = c.SetReadDeadline(time.Now().Add(hangs))
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Errorf("what was sent meanwhile is lost: %v", err)
	}
	p.cut()
	if err := echo(hangs); err == nil {
		t.Error("the connection is still there")
	}
}

func TestProcess(t *testing.T) {
	ended := make(chan string, 1)
	dir := t.TempDir()
	p := &process{name: "p", log: filepath.Join(dir, "log"),
		ready: func(context.Context) error { _, err := os.Stat(filepath.Join(dir, "up")); return err },
		died:  func(name string, _ error) { ended <- name }}
	p.argv = []string{"sh", "-c", "echo up >" + dir + "/up; exec sleep 600"}
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.freeze()
	p.thaw()
	p.kill()
	select {
	case <-ended:
		t.Error("a kill of ours is taken for an accident")
	default:
	}
	p.argv = []string{"sh", "-c", "exit 3"}
	if err := os.Remove(filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	if err := p.start(t.Context()); err == nil {
		t.Error("what ends at once has started")
	}
	select {
	case <-ended:
	case <-time.After(hangs):
		t.Error("an accident isn't reported")
	}
}
