package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// The most shapes of a graph, and the most in one column if each step has its own shape.
const (
	graphShapes = 160
	graphColumn = 14
	planColumn  = 6 // of a plan that hasn't started
	graphLayers = 40
)

// WithExpected sets the missing expected durations of a graph's steps from its plan.
func WithExpected(steps []app.Step) []app.Step {
	after := make([]int64, len(steps))
	for _, s := range steps {
		for _, n := range s.Needs {
			if n >= 0 && n < len(steps) {
				after[n] = max(after[n], int64(s.Rank))
			}
		}
	}
	for i := range steps {
		if s := &steps[i]; s.Expected == 0 && !s.Join {
			s.Expected = s.Rank - asDuration(after[i])
		}
	}
	return steps
}

// depths returns the length of the longest path to each step from the start.
func depths(steps []app.Step) []int {
	depth := make([]int, len(steps))
	for i, s := range steps {
		for _, n := range s.Needs {
			if n < 0 || n >= i {
				continue
			}
			d := depth[n]
			if !steps[n].Join {
				d++
			}
			depth[i] = max(depth[i], d)
		}
	}
	return depth
}

// fold assigns a shape to each step that acts: its own if there are few, else one shared with similar steps. Steps of
// one shape are of one layer, and their dependencies are of an earlier layer or the same. Joins have -1.
func fold(steps []app.Step, most int) (of []int, layer []int) {
	depth := depths(steps)
	deepest := 0
	for i, s := range steps {
		if !s.Join {
			deepest = max(deepest, depth[i])
		}
	}
	bucket := func(n int) func(i int) int {
		return func(i int) int { return depth[i] * min(n, deepest+1) / (deepest + 1) }
	}
	kind := nodeKinds(steps)
	each := func(i int) int { return depth[i] }
	for _, level := range []struct {
		layer  func(i int) int
		name   func(s app.Step) string
		column int
		alone  bool
	}{
		{each, func(s app.Step) string { return strconv.Itoa(s.Index) }, most, true},
		{each, func(s app.Step) string { return kind[s.Node] + "/" + s.Service + "/" + string(s.Action) }, most, false},
		{each, func(s app.Step) string { return s.Service + "/" + string(s.Action) }, graphShapes, false},
		{bucket(graphLayers), func(s app.Step) string { return s.Service + "/" + string(s.Action) }, graphShapes, false},
		{bucket(graphLayers), func(s app.Step) string { return s.Service }, graphShapes, false},
		{bucket(graphLayers), func(s app.Step) string { return strconv.FormatBool(s.Service != "") }, graphShapes, false},
	} {
		if of, layer, ok := group(steps, level.layer, level.name, level.column); ok {
			return of, layer
		}
	}
	of, layer, _ = group(steps, bucket(graphLayers), func(app.Step) string { return "" }, len(steps))
	return of, layer
}

// group numbers shapes in the order of their first steps. It returns false if there are too many.
func group(steps []app.Step, layerOf func(i int) int, name func(s app.Step) string, column int) (of, layer []int, ok bool) {
	type key struct {
		layer int
		name  string
	}
	number := map[key]int{}
	of = make([]int, len(steps))
	high := map[int]int{}
	for i, s := range steps {
		if of[i] = -1; s.Join {
			continue
		}
		k := key{layerOf(i), name(s)}
		n, known := number[k]
		if !known {
			n = len(layer)
			number[k], layer = n, append(layer, k.layer)
			if high[k.layer]++; len(layer) > graphShapes || high[k.layer] > column {
				return nil, nil, false
			}
		}
		of[i] = n
	}
	return of, layer, true
}

// nodeKinds names nodes alike if they have the same steps.
func nodeKinds(steps []app.Step) map[string]string {
	acts := map[string][]string{}
	for _, s := range steps {
		if !s.Join {
			acts[s.Node] = append(acts[s.Node], s.Service+"/"+string(s.Action))
		}
	}
	number := map[string]int{}
	kinds := map[string]string{}
	for _, node := range sortedNodes(acts) {
		slices.Sort(acts[node])
		what := strings.Join(acts[node], " ")
		if _, known := number[what]; !known {
			number[what] = len(number)
		}
		kinds[node] = strconv.Itoa(number[what])
	}
	return kinds
}

// longestPath returns the steps of the critical path of a plan, in order; none without expected durations.
func longestPath(steps []app.Step) []int {
	next := make([]int, len(steps)) // 1 + the successor with the most ahead of it
	first := -1
	for i, s := range steps {
		if first < 0 || s.Rank > steps[first].Rank {
			first = i
		}
		for _, n := range s.Needs {
			if n >= 0 && n < i && (next[n] == 0 || s.Rank > steps[next[n]-1].Rank) {
				next[n] = i + 1
			}
		}
	}
	if first < 0 || steps[first].Rank == 0 {
		return nil
	}
	var path []int
	for i := first; i >= 0; i = next[i] - 1 {
		if !steps[i].Join {
			path = append(path, i)
		}
	}
	return path
}

// title sets a shape's title, and on which nodes it acts.
func (s *Shape) describe(steps []app.Step) {
	first := steps[s.Steps[0]]
	actions, services, nodes := map[app.Action]bool{}, map[string]bool{}, map[string]bool{}
	for _, i := range s.Steps {
		actions[steps[i].Action], services[steps[i].Service], nodes[steps[i].Node] = true, true, true
	}
	what := first.Service
	switch {
	case len(services) > 1 && services[""]:
		what = "all"
	case len(services) > 1:
		what = humanize.Count(len(services), "service")
	case first.Action == app.ActionRun:
		what = "command"
	case what == "" && first.Node != "":
		what = "machine"
	}
	switch {
	case actions[app.ActionNames] && len(actions) == 1:
		s.Title = "write names"
	case len(actions) == 1 && what != "":
		s.Title = string(first.Action) + " " + what
	case len(actions) == 1:
		s.Title = string(first.Action)
	default:
		s.Title = what
	}
	if len(s.Steps) == 1 {
		s.On, s.Step = cmp.Or(first.Node, "cluster"), first.ID
		return
	}
	s.On = "×" + strconv.Itoa(len(s.Steps))
	if len(nodes) == 1 {
		s.Node = first.Node
		s.On = fmt.Sprintf("%s ×%d", cmp.Or(first.Node, "cluster"), len(s.Steps))
	}
}
