package template

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/label"
)

// Template is what users ask for by name: defaults, what may be used instead, and the constraints that every layout
// keeps. The model is Coopr's.
type Template struct {
	About
	Defaults      Defaults        `json:"defaults"`
	Compatibility Compatibility   `json:"compatibility"`
	Constraints   Constraints     `json:"constraints"`
	Lease         Lease           `json:"lease"`
	Links         []app.Link      `json:"links,omitempty"`
	Outputs       []Output        `json:"outputs,omitempty"`
	Hooks         []OperationHook `json:"hooks,omitempty"` // operation hooks, in the order in which their scripts run
	Extends       string          `json:"extends,omitempty"`
	Includes      []string        `json:"includes,omitempty"`
	// Partial marks what is only a part of other templates: no one makes clusters of it.
	Partial    bool        `json:"partial,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
	// Immutable are the parts that neither requests nor templates made from this one may say otherwise; see ImmutableParts.
	Immutable  []string `json:"immutable,omitempty"`
	State      State    `json:"state,omitempty"`       // "" means published
	Version    string   `json:"version,omitempty"`     // in its authors' own words
	ReplacedBy string   `json:"replaced_by,omitempty"` // the template to use instead of a deprecated one
	// Health says how clusters are managed; nil: no one looks.
	Health *HealthPolicy `json:"health,omitempty"`
	// Idle says when clusters are idle, and what happens then; nil: as the tenant says.
	Idle *IdlePolicy `json:"idle,omitempty"`
	// Scaling says how many nodes clusters have, unless their owners say otherwise; nil: as many as people ask for.
	Scaling *ScalingPolicy `json:"scaling,omitempty"`
	// Actions are scripts that people can run on clusters' nodes by name.
	Actions []SavedAction `json:"actions,omitempty"`
	// PartialResults says what happens to creates and growths of which not all machines come; nil: they fail.
	PartialResults *PartialResults `json:"partial_results,omitempty"`
	// KeepFailed says for how long failed machines are kept for inspection, unless a request says otherwise; "": they are deleted.
	KeepFailed KeepTime `json:"keep_failed,omitempty"`
	// Firewall says what reaches clusters from outside; nil: whatever the account does by itself.
	Firewall *Firewall `json:"firewall,omitempty"`
	// FallbackHardware lists, by hardware, what machines may be made of instead where none of it is to be had, in this order.
	FallbackHardware map[string][]string `json:"fallback_hardware,omitempty"`
	// Places are where clusters may be created, and are tried one after the other where requests don't name some of them; none: anywhere. PlaceOrder is
	// their order where a request doesn't say; "" means the cheapest first.
	Places     []Place    `json:"places,omitempty"`
	PlaceOrder PlaceOrder `json:"place_order,omitempty"`
	// Labels says which labels clusters have by default and which they need; nil: none.
	Labels *label.Rules `json:"labels,omitempty"`
	// Batches is what a person is asked between the batches in which nodes are changed; nil: no one is.
	Batches *Person `json:"batches,omitempty"`
}

// Defaults are used where a request says nothing. Config is the cluster configuration; macros in its string
// values are expanded when services are set up.
type Defaults struct {
	Services  []string       `json:"services"`
	Provider  string         `json:"provider,omitempty"`
	Hardware  string         `json:"hardware,omitempty"`
	Image     string         `json:"image,omitempty"`
	DNSSuffix string         `json:"dns_suffix,omitempty"`
	Prefer    Preference     `json:"prefer,omitempty"` // of layouts; "" means packed
	Config    map[string]any `json:"config,omitempty"`
}

// Compatibility lists what a request may use. An empty list allows everything.
type Compatibility struct {
	Services []string `json:"services,omitempty"`
	Hardware []string `json:"hardware,omitempty"`
	Images   []string `json:"images,omitempty"`
}

// Constraints hold for every layout of the template.
type Constraints struct {
	MustCoexist [][]string                   `json:"must_coexist,omitempty"` // all of a group on a node, or none
	CantCoexist [][]string                   `json:"cant_coexist,omitempty"` // never all of a group on one node
	Services    map[string]ServiceConstraint `json:"services,omitempty"`
	Size        SizeRange                    `json:"size"`

	// CantCoexistPairs are groups of which no two may share a node, unlike CantCoexist, whose groups are only forbidden
	// as a whole (Coopr's reading).
	CantCoexistPairs [][]string `json:"cant_coexist_pairs,omitempty"`
	Ratios           []Ratio    `json:"ratios,omitempty"`
	Zones            *ZoneRule  `json:"zones,omitempty"`
	// MixedHardware lets nodes with the same services have different hardware and images; without it they have the same,
	// any that all of these services accept.
	MixedHardware bool `json:"mixed_hardware,omitempty"`
	// Hardware limits how many nodes may be of a hardware type; absent ones are not limited.
	Hardware map[string]int `json:"hardware,omitempty"`
	// Hosts says with whom nodes may share a host. It matters only where nodes are placed on the hosts of a pool.
	Hosts *HostRule `json:"hosts,omitempty"`
}

// Ratio asks for at least one node with Service for every Per nodes with Of, rounded up.
type Ratio struct {
	Service string `json:"service"`
	Per     int    `json:"per"` // at least 1
	Of      string `json:"of"`
}

// ZoneRule spreads nodes over the zones of the provider. For each of Services (all nodes together where it is empty) the
// numbers of nodes in any two zones differ by at most MaxSkew, which is at least 1.
type ZoneRule struct {
	MaxSkew  int      `json:"max_skew"`
	Services []string `json:"services,omitempty"`
}

// ServiceConstraint limits one service. Min and Max count nodes. MinSet tells a written 0 ("may be left out") from an
// absent minimum ("at least one, since it was asked for"). Empty lists allow every type.
type ServiceConstraint struct {
	Hardware []string `json:"hardware,omitempty"`
	Images   []string `json:"images,omitempty"`
	Min      int      `json:"min"`
	MinSet   bool     `json:"min_set"`
	Max      int      `json:"max"` // math.MaxInt32 means no limit
}

// Unlimited is the Max of a service or size that has none.
const Unlimited = math.MaxInt32

// SizeRange is how many nodes a cluster of a template may have; Min is at least 1.
type SizeRange struct {
	Min int `json:"min"`
	Max int `json:"max"`
	// OneOf are the only sizes, ascending, such as 3, 5 and 7; Min and Max are then the first and the last. Empty: any between Min and Max.
	OneOf []int `json:"one_of,omitempty"`
}

// MaxSizes is how many sizes SizeRange.OneOf may list.
const MaxSizes = 100

// Least is the fewest nodes that are allowed, at least 1.
func (r SizeRange) Least() int { return max(r.Min, 1) }

// Allows reports whether a cluster may have n nodes.
func (r SizeRange) Allows(n int) bool {
	if n < r.Least() || r.Max > 0 && n > r.Max {
		return false
	}
	return len(r.OneOf) == 0 || slices.Contains(r.OneOf, n)
}

// Nearest is the allowed size that is closest to n, the smaller of two.
func (r SizeRange) Nearest(n int) int {
	best := max(n, r.Least())
	if r.Max > 0 {
		best = min(best, r.Max)
	}
	for i, size := range r.OneOf {
		if i == 0 || max(size-n, n-size) < max(best-n, n-best) {
			best = size
		}
	}
	return best
}

// Refusal says which sizes there are to one who entered n: "Choose 3–50 nodes (you entered 1)."
func (r SizeRange) Refusal(n int) string {
	return fmt.Sprintf("Choose %s (you entered %d).", strings.Replace(r.Text(), " to ", "–", 1), n)
}

// Lease says how long clusters may live. 0 means: Initial forever, Max no limit, Step any.
type Lease struct {
	Initial time.Duration `json:"initial"`
	Max     time.Duration `json:"max"`
	Step    time.Duration `json:"step"`
}

// MaxNodes is the most nodes that a cluster can have. Solving and planning take memory by the node, so larger sizes are refused before anything is
// worked out.
const MaxNodes = 10_000

// CheckSize refuses a size that no cluster can have, with EInvalid; 0 is for the template to say.
func CheckSize(size int) error {
	if size >= 0 && size <= MaxNodes {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Reason: "size", Field: "size", Message: fmt.Sprintf("A cluster can have 1 to %d nodes, not %d.", MaxNodes, size), Hint: "Choose fewer nodes, or create several clusters."}
}

// Preference chooses among the layouts that satisfy every constraint.
type Preference string

// The preferences. All are exact, and the same question gets the same answer.
const (
	// PreferPacked is Coopr's: kinds of node ordered by (more services, hardware, image, service names), as many as
	// possible of the first, then of the next.
	PreferPacked Preference = "packed"
	// PreferCheapest has the least cost per hour; among equals the packed one.
	PreferCheapest Preference = "cheapest"
	// PreferSpread puts as few services as possible on the fullest node, and so on; among equals the packed one.
	PreferSpread Preference = "spread"
)

func (p Preference) Check() error {
	switch p {
	case "", PreferPacked, PreferCheapest, PreferSpread:
		return nil
	}
	return &app.Error{Code: app.EInvalid, Field: "prefer", Message: fmt.Sprintf("Unknown preference %.40q.", string(p)), Hint: "Use packed, cheapest or spread."}
}

// HostRule says with whom nodes share a host of a pool. Services that are not on the cluster count for nothing.
type HostRule struct {
	// Alone are services whose nodes share a host with no other cluster.
	Alone []string `json:"alone,omitempty"`
	// Apart keeps nodes with a service off hosts that have one of some services of other clusters.
	Apart []HostApart `json:"apart,omitempty"`
	// Separate are services of which no host has two nodes of the cluster.
	Separate []string `json:"separate,omitempty"`
	// MaxNodes is how many nodes of the cluster a host may have; 0 is any number.
	MaxNodes int `json:"max_nodes,omitempty"`
}

// HostApart keeps Service off hosts with any of From, as far as these belong to other clusters.
type HostApart struct {
	Service string   `json:"service"`
	From    []string `json:"from"`
}
