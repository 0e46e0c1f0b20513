package planner_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/planner"
	"pgregory.net/rapid"
)

var allWork = []plan.ServiceWork{plan.WorkConfigure, plan.WorkReload, plan.WorkRestart, plan.WorkStop, plan.WorkStart, plan.WorkUpgrade, plan.WorkStopConfigure}

// updateKinds are those that the nodes say all of: what a command does is no work on services, see run_test.go.
var updateKinds = slices.DeleteFunc(slices.Clone(app.Updates), func(k app.OperationKind) bool { return k == app.OperationRun })

// drawUpdate draws a small cluster and what happens to it: every change, every kind of work, in batches or not.
func drawUpdate(t *rapid.T) plan.Request {
	r := drawProblem(t)
	r.Kind = rapid.SampledFrom(updateKinds).Draw(t, "kind")
	r.Batch = rapid.IntRange(0, 3).Draw(t, "batch")
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Change = rapid.SampledFrom([]plan.NodeChange{"", "", "", plan.NodeNew, plan.NodeGone, plan.NodeReplaced}).Draw(t, "change")
		if n.Change != "" {
			continue
		}
		var services []string
		for _, s := range n.Services {
			switch rapid.IntRange(0, 5).Draw(t, "its fate") {
			case 0:
				n.Added = append(n.Added, s)
			case 1:
				n.Removed = append(n.Removed, s)
				continue
			case 2, 3:
				if n.Work == nil {
					n.Work = map[string]plan.ServiceWork{}
				}
				n.Work[s] = rapid.SampledFrom(allWork).Draw(t, "work")
			}
			services = append(services, s)
		}
		n.Services = services
	}
	return r
}

// wanted is an update by the plainest reading of the rules: what is done in which wave, and every edge.
type wanted struct {
	r       plan.Request
	waves   []map[string]bool // steps by wave
	edges   map[string][]string
	depends [2]map[string]map[string]bool // at runtime, to be installed; at any distance
}

// wantedOf reads the rules once more, without minimising. ok is false for services that wait for each other.
func wantedOf(r plan.Request) (w *wanted, ok bool) {
	w = &wanted{r: r, edges: map[string][]string{}}
	if !w.close() {
		return nil, false
	}
	has := func(s string, a app.Action) bool {
		if a == app.ActionCheck {
			return r.Services[s].Health != nil
		}
		_, ok := r.Services[s].Actions[a]
		return ok
	}
	bootstrapped := map[string]bool{}
	var steps map[string]bool
	put := func(id string, after ...string) string {
		steps[id] = true
		w.edges[id] = append(w.edges[id], after...)
		return id
	}
	chain := func(node, s, after string, actions ...app.Action) {
		for _, a := range actions {
			if has(s, a) {
				id := put(node + "." + s + "." + string(a))
				if after != "" {
					w.edges[id] = append(w.edges[id], after)
				}
				after = id
			}
		}
	}
	checked := func(node, s string) { // a service that was brought up is looked at
		last := ""
		for _, a := range []app.Action{app.ActionStop, app.ActionInstall, app.ActionConfigure, app.ActionStart, app.ActionReload} {
			if id := node + "." + s + "." + string(a); steps[id] && (last == "" || slices.Contains(w.edges[id], last)) {
				last = id
			}
		}
		for _, a := range []string{".start", ".reload", ".install"} {
			if strings.HasSuffix(last, a) && has(s, app.ActionCheck) {
				put(node+"."+s+".check", last)
			}
		}
		if strings.HasSuffix(last, ".configure") && has(s, app.ActionCheck) {
			for _, n := range r.Nodes {
				if n.Name == node && n.Work[s] == plan.WorkUpgrade {
					put(node+"."+s+".check", last)
				}
			}
		}
	}
	wave := func(fill func()) {
		steps = map[string]bool{}
		fill()
		if len(steps) > 0 {
			w.waves = append(w.waves, steps)
		}
	}
	fresh := func(node string, services []string) {
		for _, s := range services {
			chain(node, s, node+".bootstrap", app.ActionInstall, app.ActionConfigure, app.ActionInitialize, app.ActionStart, app.ActionCheck)
		}
	}
	machine := func(n plan.Node) {
		create := put(n.Name + ".create")
		if n.Change == plan.NodeReplaced {
			w.edges[create] = append(w.edges[create], put(n.Name+".delete"))
		}
		put(n.Name+".bootstrap", put(n.Name+".confirm", create))
		fresh(n.Name, n.Services)
	}
	works := func(n plan.Node, kinds ...plan.ServiceWork) {
		for _, s := range slices.Sorted(maps.Keys(n.Work)) {
			kind := n.Work[s]
			if !slices.Contains(kinds, kind) {
				continue
			}
			switch kind {
			case plan.WorkConfigure:
				chain(n.Name, s, "", app.ActionConfigure)
				continue
			case plan.WorkReload:
				if has(s, app.ActionReload) {
					chain(n.Name, s, "", app.ActionConfigure, app.ActionReload)
				} else {
					chain(n.Name, s, "", app.ActionConfigure, app.ActionStop, app.ActionStart)
				}
			case plan.WorkRestart:
				chain(n.Name, s, "", app.ActionStop, app.ActionStart)
			case plan.WorkStop:
				chain(n.Name, s, "", app.ActionStop)
			case plan.WorkStopConfigure:
				chain(n.Name, s, "", app.ActionStop, app.ActionConfigure)
				continue
			case plan.WorkStart:
				chain(n.Name, s, "", app.ActionStart)
			case plan.WorkUpgrade:
				after := n.Name + ".bootstrap"
				if slices.ContainsFunc([]app.Action{app.ActionStop, app.ActionInstall, app.ActionConfigure, app.ActionStart}, func(a app.Action) bool { return has(s, a) }) &&
					!bootstrapped[n.Name] {
					put(after)
				}
				if !steps[after] {
					after = "" // it was prepared in an earlier wave
				}
				chain(n.Name, s, after, app.ActionStop, app.ActionInstall, app.ActionConfigure, app.ActionStart)
			}
			checked(n.Name, s)
		}
	}
	wave(func() {
		for _, n := range r.Nodes {
			if n.Change == plan.NodeNew || n.Change == plan.NodeReplaced && r.Batch == 0 {
				machine(n)
			}
			if len(n.Added) > 0 {
				bootstrapped[n.Name] = true
				put(n.Name + ".bootstrap")
				fresh(n.Name, n.Added)
			}
			works(n, plan.WorkStart)
		}
	})
	size := r.Batch
	if size == 0 {
		size = 1 << 20
	} else {
		var replaced []plan.Node
		for _, n := range r.Nodes {
			if n.Change == plan.NodeReplaced {
				replaced = append(replaced, n)
			}
		}
		for batch := range slices.Chunk(replaced, size) {
			wave(func() {
				for _, n := range batch {
					machine(n)
				}
			})
		}
	}
	var worked []plan.Node
	middle := []plan.ServiceWork{plan.WorkConfigure, plan.WorkReload, plan.WorkRestart, plan.WorkUpgrade}
	for _, n := range r.Nodes {
		steps = map[string]bool{}
		edges := maps.Clone(w.edges)
		if works(n, middle...); len(steps) > 0 {
			worked = append(worked, n)
		}
		w.edges = edges
	}
	for batch := range slices.Chunk(worked, size) {
		wave(func() {
			for _, n := range batch {
				works(n, middle...)
			}
		})
	}
	wave(func() {
		for _, n := range r.Nodes {
			works(n, plan.WorkStop, plan.WorkStopConfigure)
			for _, s := range n.Removed {
				chain(n.Name, s, "", app.ActionStop, app.ActionRemove)
			}
			if n.Change == plan.NodeGone {
				put(n.Name + ".delete")
				for _, s := range n.Services {
					if has(s, app.ActionStop) {
						put(n.Name+".delete", put(n.Name+"."+s+".stop"))
					}
				}
			}
		}
	})
	for _, steps := range w.waves {
		w.order(steps)
	}
	return w, true
}

// close works out what depends on what.
func (w *wanted) close() bool {
	on := map[string]bool{}
	for _, n := range w.r.Nodes {
		for _, s := range slices.Concat(n.Services, n.Removed) {
			on[s] = true
		}
	}
	for phase := range w.depends {
		d := map[string]map[string]bool{}
		for a := range on {
			d[a] = map[string]bool{}
			want := w.r.Services[a].Runtime
			if phase == 1 {
				want = w.r.Services[a].Install
			}
			for b := range on {
				for _, name := range slices.Concat(want.Requires, want.Uses) {
					if a != b && (name == b || slices.Contains(w.r.Services[b].Provides, name)) {
						d[a][b] = true
					}
				}
			}
		}
		for range on {
			for a := range on {
				for b := range maps.Clone(d[a]) {
					maps.Copy(d[a], d[b])
				}
			}
		}
		for a := range on {
			if d[a][a] {
				return false
			}
		}
		w.depends[phase] = d
	}
	return true
}

// order draws the edges between services within a wave, and those to addresses.
func (w *wanted) order(steps map[string]bool) {
	type act struct{ id, node, service, action string }
	var acts []act
	for _, id := range slices.Sorted(maps.Keys(steps)) {
		if parts := strings.Split(id, "."); len(parts) == 3 {
			acts = append(acts, act{id, parts[0], parts[1], parts[2]})
		}
	}
	with := func(a act, action string) bool { return steps[a.node+"."+a.service+"."+action] }
	first := func(a act, actions ...string) bool { // a is the first of these that is there
		for _, action := range actions {
			if with(a, action) {
				return a.action == action
			}
		}
		return false
	}
	rises := func(a act) bool { return first(a, "initialize", "start", "reload", "check") }
	works := func(a act) bool { return first(a, "check", "reload", "start") }
	for _, a := range acts {
		for _, b := range acts {
			runtime, install := w.depends[0], w.depends[1]
			switch {
			case install[a.service][b.service] && a.action == "install" && b.action == "install",
				runtime[a.service][b.service] && rises(a) && works(b),
				runtime[b.service][a.service] && a.action == "stop" && b.action == "stop",
				runtime[b.service][a.service] && !with(a, "stop") && a.action == "remove" && b.action == "stop",
				install[b.service][a.service] && a.action == "remove" && b.action == "remove":
				w.edges[a.id] = append(w.edges[a.id], b.id)
			}
		}
		for _, n := range w.r.Nodes {
			// An upgrade that begins with the installation ends the old version by it.
			if n.Name != a.node || n.Work[a.service] != plan.WorkUpgrade || a.action != "install" || with(a, "stop") {
				continue
			}
			for _, b := range acts {
				if w.depends[0][b.service][a.service] && b.action == "stop" {
					w.edges[a.id] = append(w.edges[a.id], b.id)
				}
			}
		}
		for _, n := range w.r.Nodes {
			for named := range w.r.Config {
				if slices.Contains(n.Services, named) && n.Change != plan.NodeGone && steps[n.Name+".confirm"] {
					w.edges[a.id] = append(w.edges[a.id], n.Name+".confirm")
				}
			}
		}
	}
	for _, n := range w.r.Nodes {
		if n.Change != plan.NodeGone || !steps[n.Name+".delete"] {
			continue
		}
		for _, s := range n.Services {
			for _, b := range acts {
				if b.action == "stop" && !steps[n.Name+"."+s+".stop"] && w.depends[0][b.service][s] {
					w.edges[n.Name+".delete"] = append(w.edges[n.Name+".delete"], b.id)
				}
			}
		}
	}
}

// paths is all that comes before each step.
func (w *wanted) paths() paths {
	all := paths{}
	over := map[string]bool{}
	for _, steps := range w.waves {
		var walk func(id string) map[string]bool
		walk = func(id string) map[string]bool {
			if all[id] == nil {
				seen := maps.Clone(over)
				for _, n := range w.edges[id] {
					seen[n] = true
					maps.Copy(seen, walk(n))
				}
				all[id] = seen
			}
			return all[id]
		}
		for id := range steps {
			walk(id)
		}
		over = maps.Clone(over)
		maps.Copy(over, steps)
	}
	return all
}

// TestUpdatesOrderWhatTheRulesOrderAndNothingElse is the whole contract of an update: growth before work on what stays
// before loss, no batch before the one before is over, nothing started before what it needs at runtime.
func TestUpdatesOrderWhatTheRulesOrderAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawUpdate(t)
		w, ok := wantedOf(r)
		p, err := planner.New().Plan(r)
		if !ok {
			if err == nil || app.AsError(err).Reason != "cycle" {
				t.Fatalf("services wait for each other, but %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, want := unnamed(t, r, p), w.paths()
		if !maps.Equal(count(got), count(want)) {
			t.Fatalf("the acts are\n%v, want\n%v", keys(count(got)), keys(count(want)))
		}
		for id := range want {
			if !maps.Equal(got[id], want[id]) {
				t.Fatalf("%s comes after\n%v, want\n%v\n%s", id, keys(got[id]), keys(want[id]), listing(p))
			}
		}
		tidy(t, p, len(r.Services))
		again, err := planner.New().Plan(permuted(r))
		if err != nil || again.Hash() != p.Hash() {
			t.Fatalf("the same question in another order got another plan:\n%s\n%s", listing(p), listing(again))
		}
	})
}

func count(p paths) map[string]bool {
	all := map[string]bool{}
	for id := range p {
		all[id] = true
	}
	return all
}

// tidy checks what every plan of an update or its rollback must hold: ids, order, reasons, and few edges.
func tidy(t interface{ Fatalf(string, ...any) }, p plan.Plan, services int) {
	seen, needed := map[string]bool{}, map[int]bool{}
	edges := 0
	for i, s := range p.Steps {
		if seen[s.ID] {
			t.Fatalf("%s is there twice\n%s", s.ID, listing(p))
		}
		seen[s.ID] = true
		edges += len(s.Needs)
		if !slices.IsSorted(s.Needs) || len(slices.Compact(slices.Clone(s.Needs))) != len(s.Needs) {
			t.Fatalf("needs of %s: %v", s.ID, s.Needs)
		}
		if s.Join && len(s.Needs) == 0 {
			t.Fatalf("%s joins nothing", s.ID)
		}
		for _, n := range s.Needs {
			if n >= i || n < 0 {
				t.Fatalf("%s needs a later step", s.ID)
			}
			if p.Steps[n].Rank < s.Rank {
				t.Fatalf("%s ranks above %s, which it needs", s.ID, p.Steps[n].ID)
			}
			if why := planner.Why(p, i, n); why == "" || strings.Contains(why, "  ") || strings.HasPrefix(why, " ") {
				t.Fatalf("%s needs %s for the reason %q", s.ID, p.Steps[n].ID, why)
			}
			needed[n] = true
		}
	}
	for i, s := range p.Steps {
		if s.Join && !needed[i] {
			t.Fatalf("nothing waits for %s", s.ID)
		}
	}
	if edges > (services+3)*len(p.Steps) {
		t.Fatalf("%d edges between %d steps", edges, len(p.Steps))
	}
}
