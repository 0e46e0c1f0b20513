package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"muster/app"
	"muster/app/humanize"
	"muster/app/plan"
)

func asDuration(n int64) time.Duration { return time.Duration(n) }

// Graph draws a plan: shapes in layers from left to right, with edges from dependencies to dependents.
type Graph struct {
	Shapes []Shape
	Edges  []GraphEdge
	Width  int
	Height int
	Folded bool // some shapes are several steps
}

// Shape is a step, or several similar ones.
type Shape struct {
	Layer, X, Y int
	Title       string        // the action
	On          string        // the nodes
	Step, Node  string        // the filter of its log
	Critical    bool          // on the critical path
	Action      app.Action    // of a plan only: the action of all its steps; "" if they differ
	Expected    time.Duration // of a plan only: of the longest of its steps; 0 if unknown
	Steps       []int         // indices in the steps that it was drawn from
	Needs       []int         // the shapes before it
	ShapeState
}

// ShapeState is the combined state of a shape's steps.
type ShapeState struct {
	State       app.StepState
	Done, Total int
}

// GraphEdge connects a shape to one that depends on it.
type GraphEdge struct {
	From, To int
	Critical bool
}

// The sizes of shapes and of the gaps between them.
const (
	ShapeWidth  = 156
	ShapeHeight = 40
	shapeGapX   = 26
	shapeGapY   = 12
	graphMargin = 6
)

// The sizes of a shape's two lines, in pixels, as plan.css has them.
const (
	TitleSize = 12
	StateSize = 11
)

// Label shortens a line of a shape, which starts at x, to fit. Widths are those of common sans-serif fonts, on the safe side.
func Label(text string, x, size int) string {
	room := (ShapeWidth - 6 - x) * 100 / size // in hundredths of an em
	runes := []rune(text)
	fits, width := 0, 0 // fits: how many letters fit with an ellipsis after them
	for i, r := range runes {
		if width += widthOf(r); width+widthOf('…') <= room {
			fits = i + 1
		}
	}
	if width <= room {
		return text
	}
	return string(runes[:fits]) + "…"
}

// widthOf returns the width of a letter in hundredths of an em.
func widthOf(r rune) int {
	switch {
	case strings.ContainsRune("fijlrtI.,:;'|!()[] ", r):
		return 40
	case strings.ContainsRune("mwMW@%…", r) || r >= 0x1100: // the latter are square in East Asian scripts
		return 105
	case unicode.IsUpper(r):
		return 80
	}
	return 69
}

// NewGraph draws the steps of one operation, with their joins if known.
func NewGraph(steps []app.Step) Graph { return newGraph(steps, graphColumn) }

// NewPlanGraph draws a plan that hasn't started. It folds sooner: it's beside a form and shows no progress.
func NewPlanGraph(p plan.Plan) Graph {
	steps := make([]app.Step, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = app.Step{Index: i, ID: s.ID, Node: s.Node, Action: s.Action, Service: s.Service, Join: s.Join, Needs: s.Needs, Rank: s.Rank,
			Expected: s.Expected, State: app.StepWaiting}
	}
	g := newGraph(steps, planColumn)
	for i := range g.Shapes {
		s := &g.Shapes[i]
		s.Action = steps[s.Steps[0]].Action
		for _, n := range s.Steps {
			s.Expected = max(s.Expected, steps[n].Expected)
			if steps[n].Action != s.Action {
				s.Action = ""
			}
		}
	}
	return g
}

func newGraph(steps []app.Step, column int) Graph {
	of, layer := fold(steps, column)
	g := Graph{Shapes: make([]Shape, len(layer))}
	for i, n := range of {
		if n >= 0 {
			g.Shapes[n].Steps = append(g.Shapes[n].Steps, i)
		}
	}
	for i := range g.Shapes {
		s := &g.Shapes[i]
		s.Layer, s.ShapeState = layer[i], stateOf(steps, s.Steps)
		s.describe(steps)
		g.Folded = g.Folded || len(s.Steps) > 1
	}
	g.connect(steps, of)
	g.place()
	return g
}

// connect finds the edges, without those that follow from others.
func (g *Graph) connect(steps []app.Step, of []int) {
	n := len(g.Shapes)
	before := make([]bits, len(steps)) // of joins: the shapes that they join
	near := make([]bits, n)
	for i := range near {
		near[i] = newBits(n)
	}
	for i, s := range steps {
		if s.Join {
			before[i] = newBits(n)
		}
		for _, need := range s.Needs {
			if need < 0 || need >= i {
				continue
			}
			into := before[i]
			if !s.Join {
				into = near[of[i]]
			}
			if steps[need].Join {
				into.add(before[need])
			} else {
				into.set(of[need])
			}
		}
	}
	path := longestPath(steps)
	critical := map[[2]int]bool{}
	for i, at := range path {
		g.Shapes[of[at]].Critical = true
		if i > 0 && of[path[i-1]] != of[at] {
			critical[[2]int{of[path[i-1]], of[at]}] = true
		}
	}
	byLayer := g.inLayers()
	far := make([]bits, n) // the indirect predecessors of a shape
	all := make([]bits, n)
	for _, to := range byLayer {
		far[to], all[to] = newBits(n), newBits(n)
		for from := range n {
			if near[to].has(from) && g.Shapes[from].Layer < g.Shapes[to].Layer {
				far[to].add(all[from])
				all[to].add(all[from])
				all[to].set(from)
			}
		}
	}
	for to := range n {
		for from := range n {
			if !near[to].has(from) || g.Shapes[from].Layer >= g.Shapes[to].Layer {
				continue
			}
			if c := critical[[2]int{from, to}]; c || !far[to].has(from) {
				g.Edges = append(g.Edges, GraphEdge{from, to, c})
				g.Shapes[to].Needs = append(g.Shapes[to].Needs, from)
			}
		}
	}
}

func (g *Graph) inLayers() []int {
	order := make([]int, len(g.Shapes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return g.Shapes[a].Layer - g.Shapes[b].Layer })
	return order
}

// place positions the shapes: layers side by side, and within a layer each near its dependencies and dependents.
func (g *Graph) place() {
	var layers [][]int
	last := -1
	for _, i := range g.inLayers() {
		if g.Shapes[i].Layer != last {
			last = g.Shapes[i].Layer
			layers = append(layers, nil)
		}
		layers[len(layers)-1] = append(layers[len(layers)-1], i)
	}
	after := make([][]int, len(g.Shapes))
	for _, e := range g.Edges {
		after[e.From] = append(after[e.From], e.To)
	}
	at := make([]float64, len(g.Shapes))
	high := 0
	settle := func(l []int) {
		for row, i := range l {
			at[i] = float64(row) - float64(len(l)-1)/2
		}
	}
	for _, l := range layers {
		high = max(high, len(l))
		settle(l)
	}
	for round := range 6 {
		for k := range layers {
			l, near := layers[k], after
			if round%2 == 0 {
				near = nil
			} else {
				l = layers[len(layers)-1-k]
			}
			middle := make(map[int]float64, len(l))
			for _, i := range l {
				others := g.Shapes[i].Needs
				if near != nil {
					others = near[i]
				}
				middle[i] = at[i]
				if len(others) > 0 {
					sum := 0.0
					for _, o := range others {
						sum += at[o]
					}
					middle[i] = sum / float64(len(others))
				}
			}
			slices.SortStableFunc(l, func(a, b int) int {
				switch {
				case middle[a] < middle[b]:
					return -1
				case middle[a] > middle[b]:
					return 1
				}
				return a - b
			})
			settle(l)
		}
	}
	const pitchX, pitchY = ShapeWidth + shapeGapX, ShapeHeight + shapeGapY
	g.Width, g.Height = 2*graphMargin+len(layers)*pitchX-shapeGapX, 2*graphMargin+high*pitchY-shapeGapY
	for k, l := range layers {
		top := (high - len(l)) * pitchY / 2
		for row, i := range l {
			g.Shapes[i].Layer = k
			g.Shapes[i].X, g.Shapes[i].Y = graphMargin+k*pitchX, graphMargin+top+row*pitchY
		}
	}
	if len(layers) == 0 {
		g.Width, g.Height = 2*graphMargin, 2*graphMargin
	}
}

// stateOf sums up the states of steps: failed and running ones count most.
func stateOf(steps []app.Step, some []int) ShapeState {
	count := map[app.StepState]int{}
	sum := ShapeState{Total: len(some), State: app.StepWaiting}
	for _, i := range some {
		count[steps[i].State]++
	}
	sum.Done = count[app.StepSucceeded]
	for _, s := range []app.StepState{app.StepFailed, app.StepRunning, app.StepAsked, app.StepQueued, app.StepReady} {
		if count[s] > 0 {
			sum.State = s
			return sum
		}
	}
	switch {
	case sum.Done == sum.Total:
		sum.State = app.StepSucceeded
	case count[app.StepDropped] > 0 && count[app.StepWaiting] == 0:
		sum.State = app.StepDropped
	}
	return sum
}

// states returns the current states of the shapes. The steps are those that the graph was drawn from.
func (g Graph) states(steps []app.Step) []ShapeState {
	out := make([]ShapeState, len(g.Shapes))
	for i, s := range g.Shapes {
		out[i] = stateOf(steps, s.Steps)
	}
	return out
}

// ShapeID is the element id of a shape.
func ShapeID(i int) string { return "g" + strconv.Itoa(i) }

// Text names the nodes and the progress: "×12, 9 done".
func (s Shape) Text() string { return s.subWords(s.ShapeState) }

// subWords is Words for another state.
func (s Shape) subWords(now ShapeState) string {
	if now.Total > 1 {
		return fmt.Sprintf("%s, %d done", s.On, now.Done)
	}
	return s.On
}

// PlanWords names the nodes and the expected duration: "×12, 30 s".
func (s Shape) PlanWords() string {
	if s.Expected <= 0 {
		return s.On
	}
	return s.On + ", " + humanize.Duration(s.Expected)
}

// Fill is the filled width of a shape's progress bar; a shape of one step has none.
func (s ShapeState) Fill() int {
	if s.Total < 2 {
		return 0
	}
	return ShapeWidth * s.Done / s.Total
}

// Path is the SVG path of an edge.
func (g Graph) Path(e GraphEdge) string {
	a, b := g.Shapes[e.From], g.Shapes[e.To]
	x1, y1, x2, y2 := a.X+ShapeWidth, a.Y+ShapeHeight/2, b.X, b.Y+ShapeHeight/2
	bend := min((x2-x1)/2, 3*shapeGapX)
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2)
}

func (g Graph) NeedsWords(s Shape) string {
	var names []string
	for _, n := range s.Needs {
		names = append(names, g.Shapes[n].Title+" ("+g.Shapes[n].On+")")
	}
	return humanize.Some(names, 4)
}

// bits is a set of small numbers.
type bits []uint64

func newBits(n int) bits      { return make(bits, (n+63)/64) }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) add(other bits) {
	for i := range other {
		b[i] |= other[i]
	}
}
