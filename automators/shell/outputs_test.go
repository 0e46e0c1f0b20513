package shell_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/automators/shell"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

const outputs = "echo run >>\"$MUSTER_STATE/runs\"\necho version=1.2 >>\"$MUSTER_OUTPUTS\"\nprintf 'leader=%s\\nBad=1\\n' n1 >>\"$MUSTER_OUTPUTS\"\n"

// A script's facts are reported, also by an attempt that finds the work done, and until the service's next step.
func TestOutputs(t *testing.T) {
	s, c := connect(t, remotetest.Options{})
	attempt := func(epoch, operation int64) (facts map[string]string, said string) {
		t.Helper()
		sh := remote.Under(c, remote.Claim{Place: "c1.n1", Epoch: epoch, Operation: operation, Index: 1})
		call := call(outputs, nil)
		call.Operation, call.Tell = operation, func(f map[string]string) { facts = f }
		var l lines
		if err := shell.New().Run(t.Context(), sh, call, l.add); err != nil {
			t.Fatal(err)
		}
		return facts, strings.Join(l.out["muster"], "\n")
	}
	want := map[string]string{"version": "1.2", "leader": "n1"}
	for epoch := range int64(2) {
		got, said := attempt(epoch+1, 7)
		if !maps.Equal(got, want) || !strings.Contains(said, `"Bad"`) {
			t.Errorf("attempt %d facts %q and said %q", epoch+1, got, said)
		}
	}
	if b, err := os.ReadFile(filepath.Join(s.State, "web", "runs")); string(b) != "run\n" {
		t.Errorf("it ran %q, %v", b, err)
	}
	files := func() (names []string) {
		names, _ = filepath.Glob(filepath.Join(s.State, ".facts", "web", "*"))
		return names
	}
	before := files()
	if len(before) != 1 {
		t.Fatalf("%q", before)
	}
	for _, p := range append(before, filepath.Dir(before[0])) {
		if st, err := os.Stat(p); err != nil || st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", p, st.Mode(), err)
		}
	}
	attempt(3, 8)
	if now := files(); len(now) != 1 || now[0] == before[0] {
		t.Errorf("the next step leaves %q", now)
	}
}

// A script that speaks of no outputs costs one command, as ever, and so does one to which no one listens.
func TestOutputsCost(t *testing.T) {
	s, sh := connect(t, remotetest.Options{})
	listening := call("true", nil)
	listening.Tell = func(map[string]string) { t.Error("reported facts") }
	run(t, sh, listening)
	run(t, sh, call("true # MUSTER_OUTPUTS", nil))
	if s.Execs() != 2 {
		t.Errorf("%d commands, want 2", s.Execs())
	}
	listening.Fields["script"] = "true # MUSTER_OUTPUTS"
	run(t, sh, listening)
	if s.Execs() != 4 {
		t.Errorf("%d commands, want 4", s.Execs())
	}
}
