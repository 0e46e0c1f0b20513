package layout

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// Request asks which services run on how many machines of which hardware and image. Empty fields mean the
// template's default; where the template has none either, any compatible type will do.
type Request struct {
	Template string   `json:"template"`
	Size     int      `json:"size"`
	Provider string   `json:"provider,omitempty"`
	Services []string `json:"services,omitempty"`
	Hardware string   `json:"hardware,omitempty"`
	Image    string   `json:"image,omitempty"`
	// Zone is where all nodes are to be; "" leaves that to the template and the provider.
	Zone string `json:"zone,omitempty"`
	// Prefer says which of all possible layouts is wanted; "" means packed.
	Prefer template.Preference `json:"prefer,omitempty"`
	// Pool has the hosts that nodes of a provider run on; it counts where that provider is the chosen one. Nil where
	// machines are made as they are needed. Faces do not take it from people: what runs on a host is not theirs to say.
	Pool *HostPool `json:"-"`
}

// Layout is the answer: groups of equal nodes, in the order in which nodes are numbered.
type Layout struct {
	Provider    string      `json:"provider"`
	Groups      []NodeGroup `json:"layout"`
	CostPerHour float64     `json:"cost_per_hour"`
	Currency    string      `json:"currency,omitempty"` // of all its prices, by ISO 4217
	// MostPerHour is what it costs where its machines have to be of the dearest other hardware that the template allows; 0 where they
	// are what the layout says. No solver returns it.
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
	Solve(ctx context.Context, c *template.Catalog, r Request) (Layout, error)
}

// Price says what a layout costs per hour, as Cost does, or from what to what, where its machines may be of other hardware.
func (l Layout) Price() string {
	if l.MostPerHour > l.CostPerHour {
		return humanize.Price(l.CostPerHour, l.Currency) + " to " + humanize.Price(l.MostPerHour, l.Currency)
	}
	return humanize.Price(l.CostPerHour, l.Currency)
}

// NodesLayout groups nodes that stand as a layout does, in the order of their numbers; what each group costs is not known.
func NodesLayout(nodes []app.Node) Layout {
	var l Layout
	for _, n := range nodes {
		same := func(g NodeGroup) bool {
			return g.Hardware == n.Hardware && g.Image == n.Image && g.Zone == n.Zone && slices.Equal(g.Services, n.Services)
		}
		if i := slices.IndexFunc(l.Groups, same); i >= 0 {
			l.Groups[i].Count++
			continue
		}
		l.Groups = append(l.Groups, NodeGroup{Count: 1, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: n.Services})
	}
	return l
}

// Lines say what a layout is made of, a line for each kind of node: "3 × small with web and lb". At most so many; the last one
// then says how many more there are.
func (l Layout) Lines(most int) []string {
	var lines []string
	for i, g := range l.Groups {
		if i == most-1 && len(l.Groups) > most {
			rest := 0
			for _, g := range l.Groups[i:] {
				rest += g.Count
			}
			return append(lines, fmt.Sprintf("and %s of %s", humanize.Count(rest, "node"), humanize.Count(len(l.Groups)-i, "other kind")))
		}
		text := fmt.Sprintf("%d × %s", g.Count, g.Hardware)
		if g.Zone != "" {
			text += " in " + g.Zone
		}
		if len(g.Services) > 0 {
			text += " with " + humanize.Some(g.Services, 8)
		}
		lines = append(lines, text)
	}
	return lines
}
