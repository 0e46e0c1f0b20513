package planner_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
	"muster/planner"
)

// parseProblem reads a request from the lines of a golden file:
//
//	kind delete
//	service app provides=web actions=install,start runtime.requires=store runtime.uses=cache install.requires=base
//	node app base          one node with these services
//	node x3 app base       three of them
//	config peers %host.service.app%
//
// The kind is create and the actions are install, configure, initialize, start, stop unless given; health=yes has a service
// looked at. In an update there are also:
//
//	new x2 app base        nodes that are made; gone and replaced likewise; drained are replaced while they still run
//	node base +app -old    app is added, old is removed
//	node app=reload base   work on a service that stays
//	batch 2
//	lost n3.create n4.confirm  the plan is that of the accepted partial result, after these failed and all that does not need them succeeded; what is
//	                       added or, in a create, worked on comes with the accepted partial result
//	failed n3.app.start    the plan is that of the rollback, after this step failed and all listed before it succeeded
func parseProblem(t testing.TB, text string) plan.Request {
	t.Helper()
	r := plan.Request{Kind: app.OperationCreate, Services: map[string]*template.Service{}, Config: map[string]any{}}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		switch words[0] {
		case "kind":
			r.Kind = app.OperationKind(words[1])
		case "service":
			r.Services[words[1]] = parseService(t, words[1], words[2:])
		case "batch":
			r.Batch, _ = strconv.Atoi(words[1])
		case "node", "new", "gone", "replaced", "drained":
			count, services := 1, words[1:]
			if len(services) > 0 && services[0][0] == 'x' {
				if n, err := strconv.Atoi(services[0][1:]); err == nil {
					count, services = n, services[1:]
				}
			}
			for range count {
				n := parseNode(services)
				n.Name = app.NodeName(len(r.Nodes) + 1)
				if n.Drained = words[0] == "drained"; n.Drained {
					n.Change = plan.NodeReplaced
				} else if words[0] != "node" {
					n.Change = plan.NodeChange(words[0])
				}
				r.Nodes = append(r.Nodes, n)
			}
		case "failed":
			r = failedAt(t, r, words[1])
		case "lost":
			r = lostAt(t, r, words[1:])
		case "config":
			r.Config[words[1]] = strings.Join(words[2:], " ")
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	return r
}

// lostAt asks to accept what came of a create or a growth.
func lostAt(t testing.TB, r plan.Request, failed []string) plan.Request {
	t.Helper()
	first := firstOf(r)
	p, err := planner.New().Plan(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range failed {
		index(t, p, id)
	}
	return goneOn(r, went(p, func(s plan.Step) app.StepState {
		if slices.Contains(failed, s.ID) {
			return app.StepFailed
		}
		return app.StepSucceeded
	}))
}

// firstOf is the operation whose partial result is accepted, as requested.
func firstOf(r plan.Request) plan.Request {
	r.Nodes = slices.Clone(r.Nodes)
	for i, n := range r.Nodes {
		n.Services = slices.DeleteFunc(slices.Clone(n.Services), func(s string) bool { return slices.Contains(n.Added, s) })
		if n.Added = nil; r.Kind == app.OperationCreate || n.Change == plan.NodeNew {
			n.Work = nil
		}
		r.Nodes[i] = n
	}
	return r
}

// went carries a plan out: what needs only steps that have succeeded gets the state that comes of it, all else is dropped.
func went(p plan.Plan, of func(plan.Step) app.StepState) (steps []app.Step) {
	ok := make([]bool, len(p.Steps))
	for i, s := range p.Steps {
		step := app.Step{Index: i, ID: s.ID, Node: s.Node, Action: s.Action, Service: s.Service, State: app.StepDropped}
		ready := !slices.ContainsFunc(s.Needs, func(n int) bool { return !ok[n] })
		if s.Join {
			ok[i] = ready
			continue
		}
		if ready {
			if step.State = of(s); step.State == app.StepSucceeded || step.State == app.StepFailed {
				step.Attempt = 1
			}
			ok[i] = step.State == app.StepSucceeded
		}
		steps = append(steps, step)
	}
	return steps
}

// goneOn is the accepted partial result: nodes whose machines did not come are given back, the others keep what the operation has brought.
func goneOn(r plan.Request, steps []app.Step) plan.Request {
	lost := map[string]bool{}
	for _, s := range steps {
		lost[s.Node] = lost[s.Node] || s.Action.OnMachine() && s.State != app.StepSucceeded
	}
	brings := r.Kind == app.OperationCreate
	r.Kind, r.Went, r.Nodes = app.OperationAcceptPartial, steps, slices.Clone(r.Nodes)
	for i, n := range r.Nodes {
		if lost[n.Name] {
			n.Services = slices.DeleteFunc(slices.Clone(n.Services), func(s string) bool { return slices.Contains(n.Added, s) })
			r.Nodes[i] = plan.Node{Name: n.Name, Services: n.Services, Change: plan.NodeGone}
			continue
		}
		if brings || n.Change == plan.NodeNew {
			n.Begun = slices.DeleteFunc(slices.Clone(n.Services), func(s string) bool { return slices.Contains(n.Added, s) })
		}
		n.Change = ""
		r.Nodes[i] = n
	}
	return r
}

// failedAt asks for the rollback of an update.
func failedAt(t testing.TB, r plan.Request, id string) plan.Request {
	t.Helper()
	p, err := planner.New().Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	failed := index(t, p, id)
	_, nodes := beforeOf(r)
	r = plan.Request{Kind: app.OperationRollBack, Nodes: nodes, Services: r.Services, Config: r.Config}
	for i, s := range p.Steps {
		step := app.Step{Index: i, ID: s.ID, Node: s.Node, Action: s.Action, Service: s.Service, Join: s.Join, State: app.StepWaiting, Needs: s.Needs}
		switch {
		case i < failed:
			step.State, step.Attempt = app.StepSucceeded, 1
		case i == failed:
			step.State, step.Attempt = app.StepFailed, 3
		}
		r.Undo = append(r.Undo, step)
	}
	return r
}

func parseNode(words []string) plan.Node {
	var n plan.Node
	for _, word := range words {
		name, work, worked := strings.Cut(word, "=")
		switch {
		case word[0] == '+':
			n.Added = append(n.Added, word[1:])
			n.Services = append(n.Services, word[1:])
		case word[0] == '-':
			n.Removed = append(n.Removed, word[1:])
		case worked:
			if n.Work == nil {
				n.Work = map[string]plan.ServiceWork{}
			}
			n.Work[name] = plan.ServiceWork(work)
			n.Services = append(n.Services, name)
		default:
			n.Services = append(n.Services, word)
		}
	}
	return n
}

func parseService(t testing.TB, name string, words []string) *template.Service {
	s := &template.Service{About: template.About{Name: name}}
	actions := "install,configure,initialize,start,stop"
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		list := strings.Split(value, ",")
		switch key {
		case "provides":
			s.Provides = list
		case "install.requires":
			s.Install.Requires = list
		case "install.uses":
			s.Install.Uses = list
		case "runtime.requires":
			s.Runtime.Requires = list
		case "runtime.uses":
			s.Runtime.Uses = list
		case "actions":
			actions = value
		case "health":
			s.Health = &template.HealthCheck{TCP: "80"}
		default:
			t.Fatalf("service %s: unknown word %q", name, word)
		}
	}
	s.Actions = map[app.Action]*template.ServiceAction{}
	for a := range strings.SplitSeq(actions, ",") {
		if a != "" {
			s.Actions[app.Action(a)] = &template.ServiceAction{Automator: "shell"}
		}
	}
	return s
}

// ids returns the ids of steps, in order.
func ids(p plan.Plan, steps []int) []string {
	out := make([]string, len(steps))
	for i, n := range steps {
		out[i] = p.Steps[n].ID
	}
	return out
}

// index finds a step by id.
func index(t interface {
	Helper()
	Fatalf(string, ...any)
}, p plan.Plan, id string) int {
	t.Helper()
	for i, s := range p.Steps {
		if s.ID == id {
			return i
		}
	}
	t.Fatalf("no step %s in %v", id, listing(p))
	return 0
}

// listing writes every step with its needs and rank.
func listing(p plan.Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%-24s %6s", s.ID, s.Rank)
		if len(s.Needs) > 0 {
			b.WriteString("  <- " + strings.Join(ids(p, s.Needs), ", "))
		}
		b.WriteString("\n")
	}
	return b.String()
}
