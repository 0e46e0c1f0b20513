package planner_test

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
	"muster/planner"
	"pgregory.net/rapid"
)

// TestPartialResultsOnlyRunWhatIsLeft is the whole contract of an accepted partial result: lost machines are given back behind nothing, no machine step is
// done again, of services what is left is done in the order of their needs, and in the end all of it has been done.
func TestPartialResultsOnlyRunWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawProblem(t)
		for i := range r.Nodes {
			n := &r.Nodes[i]
			for _, s := range n.Services {
				switch rapid.IntRange(0, 5).Draw(t, "its fate") {
				case 0:
					n.Added = append(n.Added, s)
				case 1, 2:
					if n.Work == nil {
						n.Work = map[string]plan.ServiceWork{}
					}
					n.Work[s] = plan.WorkReload
				}
			}
		}
		p, err := planner.New().Plan(firstOf(r))
		if err != nil {
			return // services wait for each other
		}
		r = goneOn(r, went(p, func(s plan.Step) app.StepState {
			if s.Service == "" && rapid.IntRange(0, 5).Draw(t, "machine") == 0 {
				return app.StepFailed
			}
			if s.Service != "" && rapid.IntRange(0, 9).Draw(t, "service") == 0 {
				return app.StepDropped
			}
			return app.StepSucceeded
		}))
		w, steps, ok := leftOf(r)
		q, err := planner.New().Plan(r)
		if !ok {
			if err == nil || app.AsError(err).Reason != "cycle" {
				t.Fatalf("services wait for each other, but %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		w.waves = []map[string]bool{steps}
		got, want := unnamed(t, r, q), w.paths()
		for _, n := range r.Nodes {
			if n.Change == plan.NodeGone {
				want[n.Name+".delete"] = map[string]bool{}
			}
		}
		if !slices.Equal(keys(count(got)), keys(count(want))) {
			t.Fatalf("the acts are\n%v, want\n%v\nafter\n%v", keys(count(got)), keys(count(want)), begunOf(r.Went))
		}
		for id := range want {
			if !slices.Equal(keys(got[id]), keys(want[id])) {
				t.Fatalf("%s comes after\n%v, want\n%v\n%s", id, keys(got[id]), keys(want[id]), listing(q))
			}
		}
		tidy(t, q, len(r.Services))
		whole(t, r, q)
		if again, err := planner.New().Plan(permuted(r)); err != nil || again.Hash() != q.Hash() {
			t.Fatalf("the same question in another order got another plan:\n%s\n%s", listing(q), listing(again))
		}
	})
}

// leftOf reads the rules once more: what is left to do of services, with every edge.
func leftOf(r plan.Request) (w *wanted, steps map[string]bool, ok bool) {
	stays := r
	stays.Nodes = slices.DeleteFunc(slices.Clone(r.Nodes), func(n plan.Node) bool { return n.Change == plan.NodeGone })
	w, steps = &wanted{r: r, edges: map[string][]string{}}, map[string]bool{}
	if !w.close() {
		return nil, nil, false
	}
	w.r = stays
	succeeded := map[string]bool{}
	for _, s := range r.Went {
		succeeded[s.ID] = s.State == app.StepSucceeded
	}
	for _, n := range stays.Nodes {
		for _, name := range n.Services {
			s := r.Services[name]
			has := func(a app.Action) bool { return s.Actions[a] != nil || a == app.ActionCheck && s.Health != nil }
			id := func(a app.Action) string { return n.Name + "." + name + "." + string(a) }
			var all, left []app.Action
			for _, a := range []app.Action{"install", "configure", "initialize", "start", "check"} {
				if has(a) {
					all = append(all, a)
				}
			}
			added, work := slices.Contains(n.Added, name), n.Work[name] != ""
			complete := !slices.ContainsFunc(all, func(a app.Action) bool { return !succeeded[id(a)] })
			again := false // what comes from here on is done, be it done before or not
			for _, a := range all {
				if again = again || added || !succeeded[id(a)] || work && a == app.ActionConfigure; again {
					left = append(left, a)
				}
			}
			if work && !added && (complete || succeeded[id(app.ActionStart)]) { // it runs
				left = nil
				for _, a := range []app.Action{"configure", "reload", "stop", "start", "check"} {
					reloads := has(app.ActionReload)
					switch {
					case !has(a), a == "reload" && !reloads, (a == "stop" || a == "start") && reloads:
					case a == "check" && (len(left) == 0 || left[len(left)-1] != "reload" && left[len(left)-1] != "start"):
					default:
						left = append(left, a)
					}
				}
			}
			after := ""
			if added {
				after = n.Name + ".bootstrap"
				steps[after] = true
			}
			for _, a := range left {
				steps[id(a)] = true
				if after != "" {
					w.edges[id(a)] = append(w.edges[id(a)], after)
				}
				after = id(a)
			}
		}
	}
	w.order(steps)
	return w, steps, true
}

// whole checks that each service of each node that stays has had all its actions, in this operation or the one before, that what has
// to read the configuration again does, and that nothing else was done to lost nodes than to give them back.
func whole(t *rapid.T, r plan.Request, q plan.Plan) {
	before, now := map[string]bool{}, map[string]bool{}
	for _, s := range r.Went {
		before[s.ID] = s.State == app.StepSucceeded
	}
	for _, s := range q.Steps {
		now[s.ID] = !s.Join
	}
	for _, n := range r.Nodes {
		if n.Change == plan.NodeGone {
			for _, s := range q.Steps {
				if s.Node == n.Name && (s.Action != app.ActionDelete || len(s.Needs) > 0) {
					t.Fatalf("%s of a lost node\n%s", s.ID, listing(q))
				}
			}
			continue
		}
		for _, name := range n.Services {
			for _, a := range []app.Action{"install", "configure", "initialize", "start"} {
				id := n.Name + "." + name + "." + string(a)
				if r.Services[name].Actions[a] == nil {
					continue
				}
				if !before[id] && !now[id] || slices.Contains(n.Added, name) && !now[id] {
					t.Fatalf("%s is never done\n%s", id, listing(q))
				}
				if a == app.ActionConfigure && n.Work[name] != "" && !now[id] {
					t.Fatalf("%s does not reload the configuration\n%s", id, listing(q))
				}
			}
		}
	}
}

// What people are asked comes with the rest of an accepted partial result; what they were asked already does not. ManualSteps between batches are of no
// node, and a question that names a machine which did not come is refused before anybody is asked.
func TestPartialResultAndManualSteps(t *testing.T) {
	problem := func(help string) plan.Request {
		r := parseProblem(t, "service db actions=install,start\nservice web runtime.requires=db actions=install,configure,start\nnode db\nnode x2 web")
		r.Services["web"].Actions[app.ActionConfigure].Person = &template.Person{Ask: "Is the record there?", Help: help}
		return r
	}
	waits := func(s plan.Step) app.StepState {
		switch s.ID {
		case "n3.create":
			return app.StepFailed
		case "n1.db.start", "n2.web.configure":
			return app.StepDropped
		}
		return app.StepSucceeded
	}
	gone := func(r plan.Request, of func(plan.Step) app.StepState) (plan.Request, plan.Plan, error) {
		p, err := planner.New().Plan(r)
		if err != nil {
			t.Fatal(err)
		}
		r = goneOn(r, went(p, of))
		p, err = planner.New().Plan(r)
		return r, p, err
	}
	r, p, err := gone(problem(""), waits)
	if n, _ := p.WaitsForPeople(); err != nil || n != 1 || p.ManualStep(index(t, p, "n2.web.configure")) == nil {
		t.Fatalf("%d questions, %v\n%s", n, err, listing(p))
	}
	for _, state := range []app.StepState{app.StepSucceeded, app.StepFailed, app.StepDropped} {
		ask := app.Step{Index: len(r.Went), ID: "batch.2.ask", Action: app.ActionAsk, State: state, Attempt: 1}
		with := r
		with.Went = append(slices.Clone(r.Went), ask)
		if q, err := planner.New().Plan(with); err != nil || q.Hash() != p.Hash() {
			t.Errorf("after a question between batches that has %s: %v\n%s", state, err, listing(q))
		}
	}
	_, p, err = gone(problem(""), func(s plan.Step) app.StepState {
		if s.ID == "n3.create" {
			return app.StepFailed
		}
		return app.StepSucceeded
	})
	if n, _ := p.WaitsForPeople(); err != nil || n != 0 || p.Acts() != 3 { // a machine goes, and the two others are updated
		t.Errorf("what was answered is asked again: %v\n%s", err, listing(p))
	}
	if _, _, err = gone(problem("Point it at %ip.service.web[1]%."), waits); err == nil || app.AsError(err).Reason != "macro_index" {
		t.Errorf("a question about a machine that did not come: %v", err)
	}
}

func TestInvalidPartialResults(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		change     func(r *plan.Request)
	}{
		{"a machine that is to be made", `"new"`, func(r *plan.Request) { r.Nodes[1].Change, r.Nodes[1].Begun = plan.NodeNew, nil }},
		{"a service that is to go", "placed services must stay", func(r *plan.Request) { r.Nodes[0].Removed = []string{"old"} }},
		{"a node whose services were begun", "its services have started installing (n1.web.install)", func(r *plan.Request) {
			r.Nodes[0] = plan.Node{Name: "n1", Services: []string{"web"}, Change: plan.NodeGone}
		}},
		{"a node that has no machine", "n2.create isn't done", func(r *plan.Request) { r.Nodes[1].Change = "" }},
		{"a service that is begun and added", "isn't there before and after", func(r *plan.Request) { r.Nodes[0].Added = []string{"web"} }},
		{"a service that is begun and not there", "isn't there before and after", func(r *plan.Request) { r.Nodes[0].Begun = []string{"db"} }},
		{"begun on a node that goes", "isn't there before and after", func(r *plan.Request) { r.Nodes[1].Begun = []string{"web"} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := parseProblem(t, "service web actions=install\nservice old actions=remove\nservice db actions=start\nnode x2 web\nlost n2.create")
			if _, err := planner.New().Plan(r); err != nil {
				t.Fatal(err)
			}
			tt.change(&r)
			_, err := planner.New().Plan(r)
			if e := app.AsError(err); err == nil || e.Code != app.EInvalid || !strings.Contains(e.Message, tt.says) {
				t.Errorf("got %v, want it to say %q", err, tt.says)
			}
		})
	}
}
