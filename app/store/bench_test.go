package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/family"
	appplan "muster/app/plan"
	"muster/app/store"
)

// deep is a plan like that of a create: eight steps a node, where the last three wait for all nodes through a join.
func deep(nodes int) appplan.Plan {
	p := appplan.Plan{Kind: app.OperationCreate}
	kinds := map[app.Action]int{}
	add := func(s appplan.Step, left int) int {
		s.Rank = time.Duration(left) * time.Second
		if !s.Join {
			if kinds[s.Action] == 0 {
				p.DurationKeys = append(p.DurationKeys, appplan.DurationKey{
					Tenant: "t", Action: s.Action, Provider: "cloud", Type: "fake", Hardware: "small", Image: "host"})
				kinds[s.Action] = len(p.DurationKeys)
			}
			s.DurationKey = kinds[s.Action]
		}
		p.Steps = append(p.Steps, s)
		return len(p.Steps) - 1
	}
	acts := []app.Action{app.ActionCreate, app.ActionConfirm, app.ActionBootstrap, app.ActionInstall, app.ActionConfigure}
	var last []int
	for i := 1; i <= nodes; i++ {
		n, needs := app.NodeName(i), []int(nil)
		for j, a := range acts {
			needs = []int{add(appplan.Step{ID: n + "." + string(a), Node: n, Action: a, Needs: needs}, 9-j)}
		}
		last = append(last, needs[0])
	}
	all := []int{add(appplan.Step{ID: "all.configure", Join: true, Needs: last}, 4)}
	for i := 1; i <= nodes; i++ {
		n, needs := app.NodeName(i), all
		for j, a := range []app.Action{app.ActionInitialize, app.ActionStart, app.ActionStop} {
			needs = []int{add(appplan.Step{ID: n + "." + string(a), Node: n, Action: a, Needs: needs}, 3-j)}
		}
	}
	return p
}

// wide is a plan of nodes on which many steps may be done in any order, once the first three are.
func wide(nodes int) appplan.Plan {
	p := appplan.Plan{Kind: app.OperationCreate, DurationKeys: []appplan.DurationKey{{Tenant: "t", Action: app.ActionInstall, Provider: "cloud", Type: "fake"}}}
	for i := 1; i <= nodes; i++ {
		n, needs := app.NodeName(i), []int(nil)
		for j, a := range []app.Action{app.ActionCreate, app.ActionConfirm, app.ActionBootstrap} {
			p.Steps = append(p.Steps, appplan.Step{ID: n + "." + string(a), Node: n, Action: a, Needs: needs, Rank: time.Duration(9-j) * time.Second})
			needs = []int{len(p.Steps) - 1}
		}
		for j := range 17 {
			p.Steps = append(p.Steps, appplan.Step{ID: fmt.Sprintf("%s.s%d.install", n, j), Node: n, Action: app.ActionInstall, Needs: needs, Rank: time.Second, DurationKey: 1})
		}
	}
	return p
}

// BenchmarkLedger carries out clusters of 10,000 nodes (1,000 with -short) with eight steps each, so many at a time, as a
// worker that does nothing would: claims, reports with the next step of the node, and dispatches. It prints what a step
// costs and what accepting the operation takes.
func BenchmarkLedger(b *testing.B) {
	nodes := 10000
	if testing.Short() {
		nodes = 1000
	}
	for _, size := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			n := nodes
			if size == 1 {
				n = min(n, 1000)
			}
			for b.Loop() {
				runLedger(b, filepath.Join(b.TempDir(), "muster.db"), 1, n, size, deep)
			}
		})
	}
	b.Run("wide/batch=32", func(b *testing.B) {
		for b.Loop() {
			runLedger(b, filepath.Join(b.TempDir(), "muster.db"), 1, nodes/10, 27, wide)
		}
	})
	b.Run(fmt.Sprintf("clusters=%d/batch=64", nodes/10), func(b *testing.B) {
		for b.Loop() {
			runLedger(b, filepath.Join(b.TempDir(), "muster.db"), nodes/10, 10, 64, deep)
		}
	})
}

func runLedger(b *testing.B, where string, clusters, nodes, size int, plan func(nodes int) appplan.Plan) {
	s, err := store.Open(b.Context(), where, key)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	took := time.Duration(0)
	for i := range clusters {
		n := apptest.NewCluster("t", fmt.Sprint("web", i), nodes, time.Now(), plan(nodes))
		made := time.Now()
		if _, err := s.CreateCluster(b.Context(), n); err != nil {
			b.Fatal(err)
		}
		took += time.Since(made)
	}
	b.ReportMetric(took.Seconds(), "s/submit")
	w := app.WorkerID{Tenant: "t", Name: "w"}
	at, used, commits := time.Now(), cpu(), s.Commits()
	var held []*execution.ClaimedStep
	for {
		if len(held) < size {
			dispatch(b, s)
			cs, err := s.ClaimSteps(b.Context(), execution.ClaimQuery{Worker: w, Now: time.Now(), For: execution.ClaimFor, Most: size - len(held)})
			if err != nil {
				b.Fatal(err)
			}
			held = append(held, cs...)
		}
		if len(held) == 0 {
			break
		}
		held = report(b, s, w, held)
	}
	took = time.Since(at)
	used, commits = cpu()-used, s.Commits()-commits
	for i := range clusters {
		ops, err := s.Operations(b.Context(), "t", fmt.Sprintf("web%d-1", i))
		if err != nil || ops[0].Status != app.OperationSucceeded || ops[0].Done != ops[0].Total {
			b.Fatalf("the operation is %+v (%v)", ops, err)
		}
	}
	steps := len(plan(nodes).Steps) * clusters
	b.ReportMetric(float64(took.Microseconds())/float64(steps), "us/step")
	b.ReportMetric(float64(used.Microseconds())/float64(steps), "cpu-us/step")
	b.ReportMetric(float64(commits)/float64(steps), "commits/step")
	b.ReportMetric(float64(rss())/1024, "MB-peak")
	b.ReportMetric(0, "ns/op")
}

// report ends all held steps well, and returns those that were handed over.
func report(b *testing.B, s *store.Store, w app.WorkerID, held []*execution.ClaimedStep) (next []*execution.ClaimedStep) {
	fs := make([]execution.Finish, len(held))
	for i, c := range held {
		fs[i] = execution.Finish{Now: time.Now(), ClaimFor: execution.ClaimFor, Fence: app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}}
		switch c.Step.Action {
		case app.ActionCreate:
			fs[i].Node = &execution.NodeUpdate{Status: app.NodeCreated, Machine: &family.Machine{ID: "m-" + c.Node.Name, Addresses: map[string]string{"access_v4": "10.0.0.1"}}}
		case app.ActionConfirm:
			fs[i].Node = &execution.NodeUpdate{Status: app.NodeReady}
		}
	}
	done, err := s.FinishSteps(b.Context(), w, fs)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range done {
		if d.Err != nil {
			b.Fatal(d.Err)
		}
		if d.Next != nil {
			next = append(next, d.Next)
		}
	}
	return next
}

// ring marks all queued steps as dispatched, as a dispatcher does.
func dispatch(b *testing.B, s *store.Store) {
	for {
		dispatches, err := s.Undispatched(b.Context(), 500)
		if err != nil {
			b.Fatal(err)
		}
		if len(dispatches) == 0 {
			return
		}
		if err := s.MarkDispatched(b.Context(), dispatches, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}

// cpu is what this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rss is the most memory that this process ever had, in kB; 0 where the system does not tell.
func rss() (kb int) {
	runtime.GC()
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, _ = fmt.Sscan(v, &kb)
		}
	}
	return kb
}
