package app

import (
	"context"
	"fmt"
)

// LayoutRequest asks which services go on how many machines of which hardware and image. Empty fields mean the
// template's default; where the template has none either, any compatible type will do.
type LayoutRequest struct {
	Template string   `json:"template"`
	Size     int      `json:"size"`
	Provider string   `json:"provider,omitempty"`
	Services []string `json:"services,omitempty"`
	Hardware string   `json:"hardware,omitempty"`
	Image    string   `json:"image,omitempty"`
	// Prefer says which of all possible layouts is wanted; "" means packed.
	Prefer Preference `json:"prefer,omitempty"`
	// Pool has the hosts that nodes of a provider go on; it counts where that provider is the chosen one. Nil where
	// machines are made as they are needed. Faces do not take it from people: what stands on a host is not theirs to say.
	Pool *HostPool `json:"-"`
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
	return &Error{Code: EInvalid, Field: "prefer", Message: fmt.Sprintf("Unknown preference %.40q.", string(p)), Hint: "Use packed, cheapest or spread."}
}

// Layout is the answer: groups of equal nodes, in the order in which nodes are numbered.
type Layout struct {
	Provider    string      `json:"provider"`
	Groups      []NodeGroup `json:"layout"`
	CostPerHour float64     `json:"cost_per_hour"`
	// MostPerHour is what it costs where its machines have to be of the dearest other hardware that the template allows; 0 where they
	// are what the layout says. No solver gives it.
	MostPerHour float64 `json:"most_per_hour,omitempty"`
	// Gap is how far, as a fraction, the cost may be above the least possible: 0 where it is proven to be the least.
	// It is set for cheapest only, when the time was over before the proof was done.
	Gap float64 `json:"gap,omitempty"`
	// Notes say, for people, why it is this layout and no other.
	Notes []string `json:"notes,omitempty"`
}

// NodeGroup is a number of nodes of one kind. Services are sorted by name.
type NodeGroup struct {
	Count       int      `json:"count"`
	Hardware    string   `json:"hardware"`
	Image       string   `json:"image"`
	Services    []string `json:"services"`
	Zone        string   `json:"zone,omitempty"`
	Host        string   `json:"host,omitempty"` // of the pool, where there is one
	CostPerHour float64  `json:"cost_per_hour"`  // of all nodes of the group
}

// Size is the number of nodes.
func (l Layout) Size() int {
	n := 0
	for _, g := range l.Groups {
		n += g.Count
	}
	return n
}

// Solver finds the layout for a request against a catalog. It is pure: the same question gets the same answer. The
// error is an *Error: ENotFound or EInvalid for a request that cannot be asked, ENoLayout where no layout exists. Its
// Reason is one of bad_request, missing_template, missing_provider, size, no_hardware_types, no_image_types,
// incompatible_services, missing_service, missing_dependency, conflict, no_solution; for a done ctx it is ETimeout.
type Solver interface {
	Solve(ctx context.Context, c *Catalog, r LayoutRequest) (Layout, error)
}
