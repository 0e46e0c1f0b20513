//go:build real

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/store/db"
	"muster/migrations"
)

// upgradeCatalog has a service that is done at once, and one that takes until a file is there; both say where they ran.
const upgradeCatalog = `kind: provider
name: sandbox
type: sandbox
settings: {mode: process}
---
kind: hardware
name: small
providers: {sandbox: {flavor: small, cost_per_hour: 0.05}}
---
kind: image
name: host
providers: {sandbox: {image: host}}
---
kind: service
name: first
actions:
  install: echo "first $MUSTER_STATE" >>HERE/told
---
kind: service
name: second
install: {requires: [first]}
actions:
  install: |
    until [ -e HERE/accept-partial ]; do sleep 0.1; done
    echo "second $MUSTER_STATE" >>HERE/told
---
kind: template
name: quick
defaults: {provider: sandbox, services: [first], hardware: small, image: host}
---
kind: template
name: slow
defaults: {provider: sandbox, services: [first, second], hardware: small, image: host}
`

// older builds the program as it was before the newest migration. It is "" where there is no history to take it from, as in a shallow clone.
func older(t *testing.T) string {
	t.Helper()
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", "../.."}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	all := db.Migrations()
	newest := all[len(all)-1]
	name := fmt.Sprintf("migrations/%05d_%s.sql", newest.Number, newest.Name)
	commit := "HEAD" // where the newest migration is in no commit yet
	came, err := git("log", "--diff-filter=A", "--format=%H", "-1", "--", name)
	if err == nil && came != "" {
		commit = came + "^"
	}
	before, err := git("rev-parse", "--verify", "--quiet", commit+"^{commit}")
	if err != nil || before == "" {
		t.Logf("there is no commit before %s here; TestUpgradeInTheMiddleOfAnOperation has the database of an older one", name)
		return ""
	}
	t.Logf("the older program is of %.12s, before migration %d", before, newest.Number)
	tree := t.TempDir()
	archive := exec.Command("git", "-C", "../..", "archive", "--format=tar", before)
	unpack := exec.Command("tar", "-x", "-C", tree)
	if unpack.Stdin, err = archive.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := archive.Start(); err != nil {
		t.Fatal(err)
	}
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := archive.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tree, name)); err == nil {
		t.Fatalf("%s is in the commit before it", name)
	}
	program := filepath.Join(tree, "muster-older")
	build := exec.Command("go", "build", "-o", program, "./cmd/muster")
	build.Dir = tree
	began := time.Now()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("built in %s", time.Since(began).Round(time.Second))
	return program
}

// TestRealUpgrade exchanges the program as people do: the older one is killed in the middle of a create, the newer one migrates, the older one continues with
// the new tables, is killed again, and the newer one takes over.
func TestRealUpgrade(t *testing.T) {
	t.Parallel()
	program := older(t)
	if program == "" {
		return
	}
	t.Run("SQLite", func(t *testing.T) { t.Parallel(); upgrade(t, program) })
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		pg, err := apptest.StartPostgres()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := pg.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := pg.Make("muster", ""); err != nil {
			t.Fatal(err)
		}
		redis, _ := realRedis(t)
		upgrade(t, program, "DATABASE_URL="+pg.NetworkURL("muster", pg.Password), "REDIS_URL="+redis, "MUSTER_SECRET_KEY="+fleetKey)
	})
}

// breaks reports whether the newest migration says that the program before cannot work with it; see docs/upgrades.md.
func breaks(t *testing.T) bool {
	t.Helper()
	all := db.Migrations()
	newest := all[len(all)-1]
	b, err := fs.ReadFile(migrations.FS, fmt.Sprintf("%05d_%s.sql", newest.Number, newest.Name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(b), fmt.Sprintf("'needs_migration', '%d'", newest.Number))
}

func upgrade(t *testing.T, program string, env ...string) {
	here := t.TempDir()
	catalog := filepath.Join(here, "catalog")
	err := os.Mkdir(catalog, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(catalog, "catalog.yaml"), []byte(strings.ReplaceAll(upgradeCatalog, "HERE", here)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, program: program, data: filepath.Join(t.TempDir(), "data"), catalog: []string{catalog}, env: env}
	command := func(program string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Env = append(append(os.Environ(), env...), "MUSTER_DATA="+p.data)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
		}
	}
	create := func(name, template string, size int) string {
		t.Helper()
		v, err := p.client().Create(t.Context(), cluster.CreateRequest{Name: name, Request: layout.Request{Template: template, Size: size}})
		if err != nil {
			t.Fatal(err)
		}
		return v.ID
	}
	active := func(id string) cluster.View {
		t.Helper()
		v := p.await(id)
		if v.Status != app.ClusterActive {
			t.Fatalf("%s is %s: %s\n%s", v.Name, v.Status, v.Message, p.out)
		}
		return v
	}
	lines := func(what string) map[string]int {
		b, err := os.ReadFile(filepath.Join(here, "told"))
		if err != nil {
			t.Fatal(err)
		}
		times := map[string]int{}
		for line := range strings.Lines(string(b)) {
			if node, ok := strings.CutPrefix(line, what+" "); ok {
				times[node]++
			}
		}
		return times
	}
	t.Cleanup(p.tidy)
	t.Cleanup(func() { _ = os.WriteFile(filepath.Join(here, "accept-partial"), nil, 0o600) }) // nothing waits forever
	p.start()
	standing := create("standing", "quick", 1)
	active(standing)
	going := create("going", "slow", 2)
	middle := func() (done map[string]app.Step) {
		t.Helper()
		for deadline := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
			v, err := p.client().Clusters.Get(t.Context(), going)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := p.client().Operations.Steps(t.Context(), going, v.Operations[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			done, at := map[string]app.Step{}, 0
			for _, s := range steps {
				if s.State == app.StepSucceeded {
					done[s.ID] = s
				} else if s.State == app.StepRunning && s.Service == "second" {
					at++
				}
			}
			if at == 2 {
				return done
			}
			if time.Now().After(deadline) {
				t.Fatalf("it does not come to its middle: %+v\n%s", steps, p.out)
			}
		}
	}
	before := middle()
	p.kill()

	command("muster", "migrate", "up")
	beside := ""
	if !breaks(t) {
		p.start() // the older one, with the new tables
		active(standing)
		beside = create("beside", "quick", 1)
		active(beside)
		middle()
		command(program, "audit", "verify")
		p.kill()
	}

	p.program = ""
	p.start()
	middle()
	active(standing)
	if beside == "" { // the older one would have refused
		beside = create("beside", "quick", 1)
	}
	active(beside)
	if err := os.WriteFile(filepath.Join(here, "accept-partial"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v := active(going)
	steps, err := p.client().Operations.Steps(t.Context(), going, v.Operations[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(before) < 6 || len(before) >= len(steps) {
		t.Errorf("%d of %d steps were done before", len(before), len(steps))
	}
	for _, s := range steps {
		if was, ok := before[s.ID]; ok && (s.Attempt != was.Attempt || !s.EndedAt.Equal(was.EndedAt)) {
			t.Errorf("%s was done again: %+v, was %+v", s.ID, s, was)
		}
	}
	first := lines("first")
	for node, n := range first {
		if n != 1 {
			t.Errorf("what was done is done %d times on %s", n, node)
		}
	}
	machines, _ := filepath.Glob(filepath.Join(p.data, "providers", "*", "nodes", "*"))
	if len(first) != 4 || len(lines("second")) != 2 || len(machines) != 4 {
		t.Errorf("first ran on %d nodes, second on %d, and there are %d machines; want 4, 2 and 4", len(first), len(lines("second")), len(machines))
	}
	command("muster", "audit", "verify")
}
