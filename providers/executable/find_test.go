package executable

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/app/family"
	"muster/app/program"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{Prefix + "b": 0o755, Prefix + "a": 0o700, Prefix + "notes": 0o600, "other": 0o755} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, Prefix+"directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	names, paths, err := program.Find(dir, Prefix)
	if err != nil || !slices.Equal(names, []string{"a", "b"}) || paths["a"] != filepath.Join(dir, Prefix+"a") {
		t.Errorf("%v, %v, %v", names, paths, err)
	}
	if _, _, err := program.Find(filepath.Join(dir, "none"), Prefix); err == nil {
		t.Error("a directory that is not there is found")
	}
}

func TestVet(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	open := filepath.Join(dir, "open")
	for place, mode := range map[string]os.FileMode{good: 0o755, open: 0o777} {
		if err := os.Mkdir(place, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, mode := range map[string]os.FileMode{"a": 0o755, "group": 0o775, "all": 0o757, "none": 0o644, "UP": 0o755} {
			path := filepath.Join(place, Prefix+name)
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(place, mode); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name, to string) string {
		path := filepath.Join(good, Prefix+name)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, word := range map[string]string{
		filepath.Join(good, Prefix+"a"):              "",
		filepath.Join(good, Prefix+"group"):          "is writable by users other",
		filepath.Join(good, Prefix+"all"):            "is writable by users other",
		filepath.Join(good, Prefix+"none"):           "isn't executable",
		filepath.Join(good, Prefix+"UP"):             "the file name must be",
		filepath.Join(good, Prefix+"gone"):           "can't read",
		filepath.Join(open, Prefix+"a"):              "is writable by users other",
		link("linked", "muster-provider-a"):          "",
		link("led", filepath.Join(open, Prefix+"a")): "is writable by users other",
	} {
		err := vet(path)
		if (err == nil) != (word == "") || err != nil && !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", path, err, word)
		}
	}
}

func TestInvalidDescriptions(t *testing.T) {
	good := `{"protocol":1,"name":"odd","description":"good","powers":["sleep","shared"],"firewalls":true,"lists_late_seconds":1.5,"rate":{"per_second":1,"burst":2},"fields":[{"name":"url"}]}`
	for change, word := range map[string]string{
		``:                                     "",
		`"name":"other"`:                       "calls itself",
		`"description":" \u0007 "`:             "description",
		`"protocol":0`:                         "version 0",
		`"powers":["fly"]`:                     "fly",
		`"powers":[]`:                          "firewalls",
		`"lists_late_seconds":61`:              "lists lag",
		`"rate":{"per_second":-1}`:             "rate",
		`"at_once":1001`:                       "concurrent requests",
		`"fields":[{"name":"Bad Name"}]`:       "Bad Name",
		`"fields":[{"name":"a"},{"name":"a"}]`: "duplicate",
	} {
		text := good
		if change != "" {
			text = strings.TrimSuffix(good, "}") + "," + change + "}"
		}
		var d descriptionLine
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		got, err := d.check("odd")
		if (err == nil) != (word == "") || err != nil && !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", change, err, word)
		}
		if err == nil && (!got.Descriptor.Sleeps || got.Descriptor.Fields[0].Label != "url" || got.AtOnce != usualAtOnce || got.ListsLate.Seconds() != 1.5) {
			t.Errorf("%+v", got)
		}
	}
}

// Whatever a program writes, it is understood or refused, and what comes of it can be shown.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"result":{"id":"m","state":"running","created_at":"2026-03-01T12:00:00Z"}}`,
		`{"id":1,"result":{"machines":[{"id":"m","state":"stopped","tags":{"a":"b"}}]}}`,
		`{"id":1,"error":{"code":"rate_limit","message":"slow down \u001b[0m","retry_after_seconds":-1}}`,
		`{"id":1,"result":{"findings":[{"about":"quota","message":"none left"}]}}`,
		`{"id":1,"result":{"protocol":1,"name":"odd","description":"x","fields":[{"name":"a"}]}}`,
		`{"id":0,"result":null}`, `[]`, `{"id":18446744073709551616}`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	hidden := secretsOf([]family.Field{{Name: "token", Secret: true}}, map[string]any{"token": "very-secret"})
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := readAnswer(line)
		if err != nil {
			return
		}
		if a.ID == 0 || (a.Error == nil) == (len(a.Result) == 0) {
			t.Fatalf("%+v", a)
		}
		if a.Error != nil {
			e := a.Error.err(hidden)
			if e.Message == "" || len(e.Message) > longestMessage+200 || strings.Contains(e.Message+e.Hint, "very-secret") || strings.ContainsRune(e.Message+e.Hint, 0x1b) || e.RetryAfter < 0 || !slices.Contains(codes, e.Code) {
				t.Fatalf("%+v", e)
			}
			return
		}
		var m machineLine
		if json.Unmarshal(a.Result, &m) == nil {
			if got, err := m.machine(hidden); err == nil && (got.ID == "" || strings.Contains(got.Note, "very-secret")) {
				t.Fatalf("%+v", got)
			}
		}
		var l machinesLine
		if json.Unmarshal(a.Result, &l) == nil {
			_, _ = l.machines(hidden)
		}
		var found findingsLine
		if json.Unmarshal(a.Result, &found) == nil {
			_, _ = found.findings(hidden)
		}
		var d descriptionLine
		if json.Unmarshal(a.Result, &d) == nil {
			_, _ = d.check("odd")
		}
	})
}
