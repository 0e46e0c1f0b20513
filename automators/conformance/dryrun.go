package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
)

// dryRun tells what would change and changes nothing; when it was done, it tells nothing.
func (s onNode) dryRun(t TB) {
	d, ok := s.New().(family.DryRunner)
	if !ok {
		if s.Changes != nil {
			t.Error("not a family.DryRunner")
		}
		t.Skip("doesn't support dry runs")
	}
	if s.Changes == nil {
		t.Fatal("a family.DryRunner needs Changes")
	}
	call := s.call("dry", s.Changes)
	call.Tell = func(facts map[string]string) { t.Errorf("dry run reports facts: %q", facts) }
	before := s.files(t)
	var h heard
	would, err := d.DryRun(t.Context(), s.sh, call, h.add)
	if err != nil {
		t.Fatalf("%v\n%s", err, h.text())
	}
	for _, part := range s.ChangesSay {
		if !strings.Contains(strings.Join(would.Texts, "\n"), part) {
			t.Errorf("%q isn't reported: %q\n%s", part, would.Texts, h.text())
		}
	}
	if s.ChangesSay != nil && (len(would.Texts) != len(s.ChangesSay) || would.More != 0) {
		t.Errorf("reports %d changes and %d more, want %d: %q\n%s", len(would.Texts), would.More, len(s.ChangesSay), would.Texts, h.text())
	}
	if after := s.files(t); !maps.Equal(before, after) {
		t.Errorf("dry run changed files:\n%q\n%q", before, after)
	}

	call.Tell = nil
	if err := d.Run(t.Context(), s.sh, call, nil); err != nil {
		t.Fatal(err)
	}
	if after := s.files(t); s.ChangesSay != nil && maps.Equal(before, after) {
		t.Error("Changes changes nothing")
	}
	if would, err = d.DryRun(t.Context(), s.sh, call, nil); err != nil || len(would.Texts)+would.More > 0 {
		t.Errorf("after applying, reports %+v, %v", would, err)
	}
	s.clean(t)

	for _, i := range s.Invalid {
		if _, err := d.DryRun(t.Context(), s.sh, s.call("dry", i.Fields), nil); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%v: got %v, want code %s", i.Fields, err, app.EInvalid)
		}
	}
}

// files returns what lies on the node, by path, without what the shell keeps of its own.
func (s onNode) files(t TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{s.Home, s.Temp, s.State} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			switch {
			case os.IsNotExist(err):
				return nil
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == ".claims" || d.Name() == ".run"):
				return filepath.SkipDir
			case d.IsDir():
				return nil
			}
			b, err := os.ReadFile(p)
			sum := sha256.Sum256(b)
			all[p] = hex.EncodeToString(sum[:])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// tell: an action's facts are reported, also by an attempt that finds the work done.
func (s onNode) tell(t TB) {
	if s.Facts == nil {
		t.Skip("no action reports facts")
	}
	want := map[string]string{}
	for name, value := range s.WantFacts {
		want[name] = strings.ReplaceAll(value, "{home}", s.Home)
	}
	for attempt := int64(1); attempt <= 2; attempt++ {
		var facts map[string]string
		call := s.call("tells", s.Facts)
		call.Tell = func(found map[string]string) { facts = found }
		var h heard
		sh := s.under(remote.Claim{Place: "tells", Epoch: attempt, Operation: 1, Index: 1})
		if err := s.New().Run(t.Context(), sh, call, h.add); err != nil {
			t.Fatalf("%v\n%s", err, h.text())
		}
		if !maps.Equal(facts, want) {
			t.Errorf("attempt %d reports %q, want %q\n%s", attempt, facts, want, h.text())
		}
		if again := !strings.Contains(h.text(), string(family.StreamOut)+": ") && !strings.Contains(h.text(), string(family.StreamErr)+": "); again != (attempt == 2) {
			t.Errorf("attempt %d output\n%s", attempt, h.text())
		}
	}
	// No one listens: nothing is wrong.
	if err := s.New().Run(t.Context(), s.under(remote.Claim{Place: "tells", Epoch: 3, Operation: 1, Index: 1}), s.call("tells", s.Facts), nil); err != nil {
		t.Error(err)
	}
	s.clean(t)
}
