package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOnlyOurPackagesAreLookedAt(t *testing.T) {
	for name, tt := range map[string]struct {
		module string
		only   bool
		want   bool // Go's vet is asked
	}{
		"a package of ours":                        {"muster", false, true},
		"a package of ours, for another":           {"muster", true, true},
		"a dependency":                             {"example.com/other", true, false},
		"the standard library":                     {"", true, false},
		"another module that is vetted for itself": {"example.com/other", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			facts, file := filepath.Join(dir, "vet.out"), filepath.Join(dir, "vet.cfg")
			text, _ := json.Marshal(map[string]any{"ModulePath": tt.module, "VetxOnly": tt.only, "VetxOutput": facts})
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			var asked [][]string
			code := run("muster", []string{"-printf=false", file}, io.Discard, io.Discard, func(args []string, _, _ io.Writer) error {
				asked = append(asked, args)
				return nil
			})
			if code != 0 || (len(asked) == 1) != tt.want || tt.want && !slices.Equal(asked[0], []string{"-printf=false", file}) {
				t.Errorf("code %d, asked %v", code, asked)
			}
			if _, err := os.Stat(facts); (err == nil) == tt.want {
				t.Errorf("facts: %v", err)
			}
		})
	}
}

func TestEndsAsGosVetDoes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vet.cfg")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	if code := run("muster", []string{file}, io.Discard, &errs, nil); code != 1 || !strings.Contains(errs.String(), "vet.cfg") {
		t.Errorf("%d, %s", code, &errs)
	}
	failing := func([]string, io.Writer, io.Writer) error { return exec.Command("sh", "-c", "exit 3").Run() }
	if code := run("muster", []string{"-flags"}, io.Discard, io.Discard, failing); code != 3 {
		t.Errorf("code %d", code)
	}
}

// TestGoVetUsesIt vets a small module of its own by the program.
func TestGoVetUsesIt(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "vet")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{"go.mod": "module muster\n", "a.go": "package a\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\", \"text\") }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vet := exec.Command("go", "vet", "-vettool="+tool, ".")
	vet.Dir = dir
	vet.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := vet.CombinedOutput(); err == nil || !strings.Contains(string(out), "wrong type string") {
		t.Errorf("%v\n%s", err, out)
	}
}
