package planner

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	appplan "muster/app/plan"
)

// Text writes a plan for people: node by node, each step with the time at which it can begin at the earliest and what
// it waits for beside the step before it on the node. Neighbouring nodes with the same steps are listed once. The error
// is the writer's.
func Text(w io.Writer, p appplan.Plan) error {
	b := bufio.NewWriter(w)
	d := newDrawing(p)
	fmt.Fprintf(b, "%s: %s on %s, %s\n", p.Kind.Text(), humanize.Count(p.Acts(), "step"), humanize.Count(d.count(), "node"), d.length())
	for i := 0; i < len(d.nodes); {
		first, block := i, d.block(d.nodes[i])
		for i++; i < len(d.nodes) && d.block(d.nodes[i]) == block; i++ {
		}
		b.WriteString("\n" + heading(d.nodes[first:i], d.services(d.nodes[first])) + "\n" + block)
	}
	if path := d.longest(); len(path) > 1 {
		b.WriteString("\nlongest path\n")
		for _, i := range path {
			fmt.Fprintf(b, "  %10s  %s\n", offset(d.begin[i]), p.Steps[i].ID)
		}
	}
	return b.Flush()
}

func heading(nodes, services []string) string {
	title := humanize.And(nodes)
	if nodes[0] == "" {
		title = "between batches"
	}
	if len(nodes) > 2 {
		title = fmt.Sprintf("%s to %s (%d nodes)", nodes[0], nodes[len(nodes)-1], len(nodes))
	}
	if len(services) == 0 {
		return title
	}
	return title + ": " + strings.Join(services, ", ")
}

// drawing is a plan with what the drawings need to know about it.
type drawing struct {
	plan  appplan.Plan
	nodes []string         // in order of their first steps
	steps map[string][]int // by node
	begin []time.Duration  // earliest, from the start of the plan
}

func newDrawing(p appplan.Plan) *drawing {
	d := &drawing{plan: p, steps: map[string][]int{}, begin: make([]time.Duration, len(p.Steps))}
	for i, s := range p.Steps {
		for _, n := range s.Needs {
			d.begin[i] = max(d.begin[i], d.begin[n]+p.Steps[n].Expected)
		}
		if s.Join {
			continue
		}
		if len(d.steps[s.Node]) == 0 {
			d.nodes = append(d.nodes, s.Node)
		}
		d.steps[s.Node] = append(d.steps[s.Node], i)
	}
	return d
}

// count is on how many nodes something is done.
func (d *drawing) count() int {
	if _, ok := d.steps[""]; ok {
		return len(d.nodes) - 1
	}
	return len(d.nodes)
}

// length is how long the plan takes, with what no one knows.
func (d *drawing) length() string {
	text := humanize.About(humanize.Duration(d.plan.Duration()))
	if people := d.plan.PeopleInWords(); people != "" {
		text += ", " + people
	}
	return text
}

// offset is when a step starts, from the start of the plan.
func offset(d time.Duration) string {
	if d < time.Second {
		return "0 s"
	}
	return humanize.Duration(d)
}

// services returns the services that have steps on a node, sorted.
func (d *drawing) services(node string) []string {
	var names []string
	for _, i := range d.steps[node] {
		if s := d.plan.Steps[i].Service; s != "" {
			names = append(names, s)
		}
	}
	return set(names)
}

// block is what Text says of one node, without its name.
func (d *drawing) block(node string) string {
	width := 0
	for _, i := range d.steps[node] {
		width = max(width, len(d.local(i)))
	}
	var b strings.Builder
	for _, i := range d.steps[node] {
		line := fmt.Sprintf("  %10s  %-*s", offset(d.begin[i]), width, d.local(i))
		if after := d.after(node, i); after != "" {
			line += "  after " + after
		}
		if q := d.plan.ManualStep(i); q != nil {
			line += "  (waits for a person; up to " + humanize.Duration(q.AnswerTime()) + ")"
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// local is a step's name on its node.
func (d *drawing) local(i int) string {
	s := d.plan.Steps[i]
	if s.Service == "" {
		return string(s.Action)
	}
	return s.Service + "." + string(s.Action)
}

// after tells what a step waits for. What a reader expects is left unsaid: that it comes after the one of the same
// service before it, and the first of each after bootstrap.
func (d *drawing) after(node string, step int) string {
	service := d.plan.Steps[step].Service
	var parts, addresses []string
	others := map[string][]string{} // single steps of other nodes, by what they do
	for _, n := range d.plan.Steps[step].Needs {
		s := d.plan.Steps[n]
		switch {
		case s.Join && s.Action == app.ActionConfirm:
			addresses = append(addresses, d.confirmed(node, n)...)
		case isBeforeHook(s):
			parts = append(parts, "everything else")
		case s.Join && s.Action == "":
			parts = append(parts, joinWords(s.ID))
		case s.Join && s.Action == app.ActionNames:
			parts = append(parts, "all changed machines")
		case s.Join:
			parts = append(parts, fmt.Sprintf("%s on %s", d.local(n), d.joined(n)))
		case s.Node == node && s.Service != "" && s.Service != service:
			parts = append(parts, d.local(n))
		case s.Node == node:
		case s.Action == app.ActionConfirm && service != "":
			addresses = append(addresses, s.ID)
		default:
			others[d.local(n)] = append(others[d.local(n)], s.ID)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(others)) {
		if few := others[what]; len(few) <= 3 {
			parts = append(parts, few...)
		} else {
			parts = append(parts, fmt.Sprintf("%s on %d nodes", what, len(few)))
		}
	}
	if len(addresses) > 0 {
		parts = append(parts, strings.Join(addresses, ", ")+" (config names their addresses)")
	}
	return strings.Join(parts, ", ")
}

// joined says how many nodes a join is about. In a create they are all that have the service.
func (d *drawing) joined(join int) string {
	if d.plan.Kind == app.OperationCreate {
		return "all " + humanize.Count(len(d.plan.Steps[join].Needs), "node")
	}
	return humanize.Count(len(d.plan.Steps[join].Needs), "node")
}

// joinWords says what a join without a service waits for.
func joinWords(id string) string {
	batch, ok := strings.CutPrefix(id, "batch.")
	number, err := strconv.Atoi(batch)
	switch {
	case id == allStopped:
		return "all services stopped"
	case id == allAwake:
		return "all machines running"
	case id == allDrained:
		return "everything that uses drained nodes"
	case id == allReady:
		return "everything that starts"
	case id == allDone:
		return "everything on nodes that stay"
	case ok && err == nil:
		return fmt.Sprintf("batch %d", number-1)
	}
	return "steps undone earlier"
}

// confirmed names the machines that a join waits to see confirmed, as seen from a node.
func (d *drawing) confirmed(node string, join int) []string {
	s := d.plan.Steps[join]
	if s.Service != "" {
		return []string{fmt.Sprintf("confirm on %s with %s", d.joined(join), s.Service)}
	}
	var parts []string
	for _, n := range s.Needs {
		if need := d.plan.Steps[n]; need.Join {
			parts = append(parts, d.confirmed(node, n)...)
		} else if need.Node != node {
			parts = append(parts, need.ID)
		}
	}
	return parts
}

// longest is the path that decides how long the plan takes, without joins. Of equals the first is taken.
func (d *drawing) longest() []int {
	steps := d.plan.Steps
	serves := map[int][]int{}
	at := -1
	for i, s := range steps {
		if len(s.Needs) == 0 && (at < 0 || s.Rank > steps[at].Rank) {
			at = i
		}
		for _, n := range s.Needs {
			serves[n] = append(serves[n], i)
		}
	}
	var path []int
	for at >= 0 {
		if !steps[at].Join {
			path = append(path, at)
		}
		next := -1
		for _, i := range serves[at] {
			if steps[i].Rank == steps[at].Rank-steps[at].Expected {
				next = i
				break
			}
		}
		at = next
	}
	return path
}

// Dot writes a plan for Graphviz: a box for each node, a dot for each join, arrows from what is needed to what waits
// for it, with the reasons as tooltips. The error is the writer's.
func Dot(w io.Writer, p appplan.Plan) error {
	b := bufio.NewWriter(w)
	d := newDrawing(p)
	q := strconv.Quote
	fmt.Fprintf(b, "digraph plan {\n\trankdir=LR;\n\tlabel=%s;\n\tnode [shape=box, style=rounded];\n",
		q(fmt.Sprintf("%s: %s, %s", p.Kind.Text(), humanize.Count(p.Acts(), "step"), d.length())))
	for k, node := range d.nodes {
		fmt.Fprintf(b, "\tsubgraph cluster_%d {\n\t\tlabel=%s;\n", k+1, q(node))
		for _, i := range d.steps[node] {
			shape := ""
			if p.Steps[i].Asks != "" {
				shape = ", shape=hexagon"
			}
			fmt.Fprintf(b, "\t\t%s [label=%s%s];\n", q(p.Steps[i].ID), q(d.local(i)), shape)
		}
		b.WriteString("\t}\n")
	}
	for _, s := range p.Steps {
		if s.Join {
			fmt.Fprintf(b, "\t%s [shape=point, xlabel=%s];\n", q(s.ID), q(s.ID))
		}
	}
	for i, s := range p.Steps {
		for _, n := range s.Needs {
			fmt.Fprintf(b, "\t%s -> %s [tooltip=%s];\n", q(p.Steps[n].ID), q(s.ID), q(why(p, i, n, d.services)))
		}
	}
	b.WriteString("}\n")
	return b.Flush()
}
