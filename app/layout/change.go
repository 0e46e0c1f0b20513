package layout

import (
	"context"

	"muster/app/template"
)

// Changer finds how a standing cluster becomes the one that is wanted. It is pure, like Solver.
type Changer interface {
	// Change keeps every placed service where it is unless r.AllowMoves, touches as few machines as possible, and makes
	// the result satisfy every constraint of the template. Errors are those of Solver; in particular ENoLayout where it
	// can't be done without moving existing services.
	Change(ctx context.Context, c *template.Catalog, r ChangeRequest) (Change, error)
}

// ExistingNode is a node that exists.
type ExistingNode struct {
	Name     string   `json:"name"`
	Hardware string   `json:"hardware"`
	Image    string   `json:"image"`
	Zone     string   `json:"zone,omitempty"`
	Services []string `json:"services"` // sorted
}

// ChangeRequest requests a change of existing nodes. Template is looked up in the catalog as it is now, so a newer version of
// it is asked for by the same name. Empty fields mean: as it is.
type ChangeRequest struct {
	Template   string              `json:"template"`
	Provider   string              `json:"provider,omitempty"`
	Nodes      []ExistingNode      `json:"nodes"`
	Add        []string            `json:"add,omitempty"`      // services
	Remove     []string            `json:"remove,omitempty"`   // services
	Size       int                 `json:"size,omitempty"`     // number of nodes afterwards; 0: as many as there are, or as few more as needed
	Hardware   string              `json:"hardware,omitempty"` // of new nodes
	Image      string              `json:"image,omitempty"`    // of new nodes
	AllowMoves bool                `json:"allow_moves,omitempty"`
	Prefer     template.Preference `json:"prefer,omitempty"`
}

// Change is what happens to each node, in number order, new ones last.
type Change struct {
	Nodes       []ChangedNode `json:"nodes"`
	Touched     int           `json:"touched"` // machines that something is done to, new and gone ones included
	CostPerHour float64       `json:"cost_per_hour"`
	Currency    string        `json:"currency,omitempty"` // of the cost, by ISO 4217
	// Unproven says that there were too many ways to look at all of them: the change keeps every constraint, but one that
	// touches fewer machines may exist.
	Unproven bool `json:"unproven,omitempty"`
}

// ChangedNode is one node, before and after.
type ChangedNode struct {
	ExistingNode          // as it will be; as it was, where it goes
	New          bool     `json:"new,omitempty"`
	Deleted      bool     `json:"deleted,omitempty"`
	Added        []string `json:"added,omitempty"`
	Removed      []string `json:"removed,omitempty"`
	Why          string   `json:"why,omitempty"` // why this one, where there was a choice
}
