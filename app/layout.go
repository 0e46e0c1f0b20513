package app

import "context"

// LayoutRequest asks which services go on how many machines of which hardware and image. Empty fields mean the
// template's default; where the template has none either, any compatible type will do.
type LayoutRequest struct {
	Template string   `json:"template"`
	Size     int      `json:"size"`
	Provider string   `json:"provider,omitempty"`
	Services []string `json:"services,omitempty"`
	Hardware string   `json:"hardware,omitempty"`
	Image    string   `json:"image,omitempty"`
}

// Layout is the answer: groups of equal nodes, in the order in which nodes are numbered.
type Layout struct {
	Provider    string      `json:"provider"`
	Groups      []NodeGroup `json:"layout"`
	CostPerHour float64     `json:"cost_per_hour"`
}

// NodeGroup is a number of nodes of one kind. Services are sorted by name.
type NodeGroup struct {
	Count       int      `json:"count"`
	Hardware    string   `json:"hardware"`
	Image       string   `json:"image"`
	Services    []string `json:"services"`
	CostPerHour float64  `json:"cost_per_hour"` // of all nodes of the group
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
