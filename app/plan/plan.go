package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
)

// Plan is a graph of steps without stages. Steps are in topological order: every need points to an earlier step.
type Plan struct {
	Kind  app.OperationKind `json:"kind"`
	Steps []Step            `json:"steps"`
	// Hooks are those whose scripts the plan runs, so that what was shown of them, and approved, is what runs.
	Hooks []template.OperationHook `json:"hooks,omitempty"`
	// Resources are what its services bring to nodes, with the hashes of their contents, so that what was shown is what comes.
	Resources []string `json:"resources,omitempty"`
	// Fallbacks are, by hardware, what machines of it may be made of instead where none is to be had.
	Fallbacks map[string][]string `json:"fallbacks,omitempty"`
	// ManualSteps are what people are asked in it, by the names that Step.Asks returns.
	ManualSteps map[string]*template.Person `json:"questions,omitempty"`
	// Keeps are the nodes whose machines aren't deleted with it but kept for inspection. Their delete steps then find nothing.
	Keeps []string `json:"keeps,omitempty"`
	// Run is the command that its steps run; nil for none.
	Run *Run `json:"run,omitempty"`
	// Baked are, by node, the services whose installs are in the image that it starts from, so that the plan has no step for them.
	Baked map[string][]string `json:"baked,omitempty"`
	// Saves is how much sooner the plan ends by that than it would with those steps.
	Saves time.Duration `json:"-"`
	// Expects is how long all of it takes on unlimited workers.
	Expects app.Expectation `json:"expects,omitzero"`
	// DurationKeys are the kinds of its steps; see Step.DurationKey.
	DurationKeys []DurationKey `json:"-"`
}

// Step is one act on one node. Needs are indexes into Plan.Steps. A join (Join set, no node) does nothing: it is
// done when its needs are, and keeps "all of these before all of those" from costing a product of edges.
type Step struct {
	ID      string     `json:"id"` // "n1.create", "n1.app.start"; joins: "all.app.start"
	Node    string     `json:"node,omitempty"`
	Action  app.Action `json:"action,omitempty"`
	Service string     `json:"service,omitempty"`
	Join    bool       `json:"join,omitempty"`
	// Asks names the question that a person is asked; "" where a worker carries the step out.
	Asks  string `json:"asks,omitempty"`
	Needs []int  `json:"needs,omitempty"`
	// Rank is the estimated time from the start of this step to the end of the plan along the longest path; among
	// ready steps the greatest goes first.
	Rank time.Duration `json:"rank"`
	// Expected is how long the step itself takes, by so many earlier runs; 0 runs are a guess.
	Expected time.Duration `json:"expected,omitempty"`
	Runs     int64         `json:"runs,omitempty"`
	// DurationKey is the place of its kind in Plan.DurationKeys, counted from 1; 0: none.
	DurationKey int `json:"-"`
}

// Acts counts the steps that do something, which is what progress is measured in.
func (p Plan) Acts() int {
	n := 0
	for _, s := range p.Steps {
		if !s.Join {
			n++
		}
	}
	return n
}

// Duration is the estimated length of the plan on unlimited workers.
func (p Plan) Duration() time.Duration {
	var d time.Duration
	for _, s := range p.Steps {
		d = max(d, s.Rank)
	}
	return d
}

// Hash names the plan: what was approved is what runs. How long it takes is no part of it, since that is learned. It is hex, 64
// digits.
func (p Plan) Hash() string { return p.hash(func(s *Step) { s.Rank = 0 }) }

// RankedHash is the hash as it was before durations were learned.
func (p Plan) RankedHash() string { return p.hash(func(*Step) {}) }

func (p Plan) hash(without func(*Step)) string {
	p.Expects, p.Steps = app.Expectation{}, slices.Clone(p.Steps)
	for i := range p.Steps {
		p.Steps[i].Expected, p.Steps[i].Runs = 0, 0
		without(&p.Steps[i])
	}
	b, err := json.Marshal(p)
	if err != nil {
		panic("app: a plan holds only plain values: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// NeedsOf returns the steps that step i really waits for, with joins replaced by what they join, in order, each once. Of a
// big plan that may be most of it: for all steps together, ask for the first few.
func (p Plan) NeedsOf(i int) []int {
	needs, _ := p.FirstNeeds(i, len(p.Steps))
	return needs
}

// FirstNeeds is NeedsOf up to a limit, and reports whether there are more.
func (p Plan) FirstNeeds(i, limit int) (needs []int, more bool) {
	seen := make(map[int]bool)
	var walk func(i int)
	walk = func(i int) {
		for _, n := range p.Steps[i].Needs {
			switch {
			case more || seen[n]:
				continue
			case p.Steps[n].Join:
				walk(n)
			case len(needs) == limit:
				more = true
			default:
				needs = append(needs, n)
			}
			seen[n] = true
		}
	}
	walk(i)
	return needs, more
}

// Request is what a planner needs to know. Nodes are in number order. Services holds the entry of every service
// on a node; Config is the unexpanded cluster configuration, read for which services' addresses its macros name.
type Request struct {
	Kind     app.OperationKind
	Nodes    []Node
	Services map[string]*template.Service
	Config   map[string]any
	// Batch is how many nodes work (see Node.Work) is done on at a time; 0 for all at once.
	Batch int
	// Between is what a person is asked before each batch but the first; nil for nothing.
	Between *template.Person
	// Hooks are scripts to run before and after all else; see OperationHook.
	Hooks []template.OperationHook
	// Run is the command to run on the nodes (OperationRun); nil for none.
	Run *Run
	// Undo is what is to be undone by a rollback: the steps of the other operation as they are now, in plan order, best with the
	// joins between. Nodes have the services then that they had before it.
	Undo []app.Step
	// Fallbacks are the cluster's; see Definition.FallbackHardware.
	Fallbacks map[string][]string
	// Names has the names of all nodes written though no machine comes or goes, as where an operation failed before it had written them.
	Names bool
	// Went are, where an operation continues another one, the steps of that one as they are now, without joins.
	Went []app.Step
	// What the durations of its steps go by, and what is known of them. They change how long the plan is said to take, and which of several
	// ready steps goes first; not what is done.
	Tenant        string
	Provider      string
	ProviderType  string
	DurationStats DurationStatsByKey
}

// Node is a node as the planner sees it; Services are sorted by name. The other fields are for updates.
type Node struct {
	Name     string
	Zone     string
	Hardware string
	Image    string
	Services []string // as they will be; of one that goes, as they were
	Change   NodeChange
	Added    []string               // of Services, on an existing node
	Removed  []string               // that an existing node had
	Work     map[string]ServiceWork // by service that is neither added nor removed
	// Begun are, where an operation continues another one, the services that this one brought to the node. What it has not
	// done with them is done; with work, they have to read the configuration again.
	Begun []string
	// Lost says that its machine is gone, so that nothing can be done on it. A rollback, a sleep and a wake leave it out, and no names are
	// written there; what was made of it is given back all the same.
	Lost bool
	// Baked are services whose installs are in the image that its machine starts from.
	Baked []string
	// Bakes says that an image is made of its machine once its services are installed.
	Bakes bool
	// Drained says of a node that is replaced that its machine still runs, and is taken away by its provider: the services that read its address do without it,
	// and its own services stop, before it is given back.
	Drained bool
	// Kept says that its machine is one that is kept for inspection.
	Kept bool
}

// Planner orders the work. It is pure. EInvalid (reason "cycle") names services that wait for each other.
type Planner interface {
	Plan(r Request) (Plan, error)
}

// Nodes numbers the nodes of a layout n1, n2, … in layout order.
func Nodes(l layout.Layout) []Node {
	nodes := make([]Node, 0, l.Size())
	for _, g := range l.Groups {
		for range g.Count {
			nodes = append(nodes, Node{Name: app.NodeName(len(nodes) + 1), Zone: g.Zone, Hardware: g.Hardware, Image: g.Image, Services: g.Services})
		}
	}
	return nodes
}

// FallbacksOf returns those of the fallbacks that a plan may come to use.
func (r Request) FallbacksOf() map[string][]string {
	if !r.Kind.GrowsNodes() {
		return nil
	}
	var out map[string][]string
	for _, n := range r.Nodes {
		others := r.Fallbacks[n.Hardware]
		if len(others) == 0 || r.Kind != app.OperationCreate && n.Change != NodeNew {
			continue
		}
		if out == nil {
			out = map[string][]string{}
		}
		out[n.Hardware] = others
	}
	return out
}

// FallbackWords says for people what machines may be made of instead; "" where they may not.
func (p Plan) FallbackWords() string { return template.FallbackWords(p.Fallbacks, 0, 0, "") }

// DurationWith is Duration where steps take another time than was planned with. A step's own time is what its rank is more than that of what waits for it.
func (p Plan) DurationWith(take func(s Step, planned time.Duration) time.Duration) (longest time.Duration) {
	behind, rest := make([]time.Duration, len(p.Steps)), make([]time.Duration, len(p.Steps))
	for i, s := range slices.Backward(p.Steps) {
		end := rest[i] + take(s, s.Rank-behind[i])
		longest = max(longest, end)
		for _, n := range s.Needs {
			behind[n], rest[n] = max(behind[n], s.Rank), max(rest[n], end)
		}
	}
	return longest
}

// NamesMost is up to how many nodes each knows the names of all others. The hosts files of a cluster have nodes² lines of some 60 bytes: of
// 1,000 nodes 60 MB, of 10,000 nodes 6 GB, which every change would write again. Nodes of larger clusters know those that the
// configuration names.
const NamesMost = 1000
