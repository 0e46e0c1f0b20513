package cluster

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/template"
	"muster/app/window"
)

// Update is what a person requests of an existing cluster. Which fields count depends on Kind; the others are refused.
type Update struct {
	Kind app.OperationKind `json:"kind"`
	// Size is the number of nodes afterwards (resize).
	Size int `json:"size,omitempty"`
	// Services are those to add or to remove, or that something is done to; empty means all, where that makes sense.
	Services []string `json:"services,omitempty"`
	// Nodes are those that go (resize), that are made again (repair), or that something is done on; empty leaves the choice
	// to Muster, or means all.
	Nodes    []string `json:"nodes,omitempty"`
	Hardware string   `json:"hardware,omitempty"` // of new nodes
	Image    string   `json:"image,omitempty"`    // of new nodes
	// KeptMachine is a failed machine of the cluster that is kept for inspection and is used again as a new node (resize), by ID or name. The
	// cluster grows by this node.
	KeptMachine string `json:"kept_machine,omitempty"`
	// Config is laid over the cluster's configuration, map by map (reconfigure); null takes a key out.
	Config map[string]any `json:"config,omitempty"`
	// Replace makes Config the whole configuration: keys that it leaves out are taken out (reconfigure). Values that are hidden where the
	// configuration is shown may be given as they're shown, and stay.
	Replace bool `json:"replace,omitempty"`
	// Parameters are values of the template's parameters, by name (reconfigure); null takes one back to what the template says.
	Parameters map[string]any `json:"parameters,omitempty"`
	// NoRestart writes the new configuration without having services read it (reconfigure).
	NoRestart bool `json:"no_restart,omitempty"`
	// Batch is on how many nodes at a time something is done (restart, reconfigure, upgrade); 0 is what the kind does by
	// itself: one for an upgrade, all at once for others.
	Batch int `json:"batch,omitempty"`
	// AskBetween lets a person look before each batch but the first, also where the template does not say so.
	AskBetween bool              `json:"ask_between_batches,omitempty"`
	OnFailure  app.FailureChoice `json:"on_failure,omitempty"`
	template.PartialOverride
	PlanHash string `json:"plan_hash,omitempty"` // of the preview that was shown; "" takes what comes
	// Command is a shell script to run on nodes (run); it is kept, and seen by all who see the operation. Timeout is how long it may take on
	// each, such as 10m; "" is 30 minutes.
	Command string `json:"command,omitempty"`
	Timeout string `json:"timeout,omitempty"`
	// Action is an action of the template to run instead, with values of its Parameters.
	Action string `json:"action,omitempty"`
	// Volumes says what happens to the cluster's volumes when their nodes are deleted, from now on; "" leaves it as it is.
	Volumes template.VolumeChoice `json:"volumes,omitempty"`
	// Backfill marks what Muster asks by itself to have all nodes that were wanted; no one else can.
	Backfill bool `json:"backfill,omitempty"`
}

// UpdatePreview is what an update would do, worked out before anything is accepted.
type UpdatePreview struct {
	Kind   app.OperationKind `json:"kind"`
	Nodes  []UpdatedNode     `json:"nodes"` // all, in number order, new ones last
	Before Figures           `json:"before"`
	After  Figures           `json:"after"`
	// Template is set where the cluster goes over to another state of its template.
	Template string `json:"template,omitempty"`
	// Changes of the configuration and of services' definitions, in order of path. Values that may be secret are not shown.
	Changes  []app.ValueChange `json:"changes"`
	Plan     plan.Plan         `json:"plan"`
	PlanHash string            `json:"plan_hash"`
	Duration time.Duration     `json:"duration"` // estimate, on unlimited workers
	Notes    []string          `json:"notes"`
	// FromPools says which pool machines it takes; nil for nothing.
	FromPools *PoolMatch `json:"from_pools,omitempty"`
	// Problems are what the provider would refuse of the machines that are added, as far as known beforehand.
	Problems []family.Finding `json:"problems,omitempty"`
	// Account says whether the provider has been asked; nil where it needn't or cannot be.
	Account *AccountAnswer `json:"account,omitempty"`
	// Decision is what policies say; nil where none says anything.
	Decision *policy.Decision `json:"decision,omitempty"`
	// Window says which maintenance window it waits for, or starts in; nil where it needs none.
	Window *window.Wait `json:"window,omitempty"`
	// NoChanges reports that nothing would change: the plan is empty.
	NoChanges bool `json:"no_changes,omitempty"`
}

// Figures are the size and cost of a cluster.
type Figures struct {
	Nodes       int     `json:"nodes"`
	CostPerHour float64 `json:"cost_per_hour"`
	Currency    string  `json:"currency"` // by ISO 4217
}

// UpdatedNode is one node, as it is and as it will be. Services are those it has afterwards; of one that goes, those it had.
type UpdatedNode struct {
	Name     string                      `json:"name"`
	Hardware string                      `json:"hardware"`
	Image    string                      `json:"image"`
	Zone     string                      `json:"zone,omitempty"`
	Services []string                    `json:"services"`
	Change   plan.NodeChange             `json:"change,omitempty"`
	Added    []string                    `json:"added,omitempty"`
	Removed  []string                    `json:"removed,omitempty"`
	Work     map[string]plan.ServiceWork `json:"work,omitempty"`   // by service: what is done to those that stay
	Runs     bool                        `json:"runs,omitempty"`   // a command is run on it
	Reason   string                      `json:"reason,omitempty"` // why this one, where there was a choice
}

// UpdateAnswer is what happened to an update: an operation of the cluster, or a request that waits for approvals.
type UpdateAnswer struct {
	Request   *Request `json:"request,omitempty"`
	Cluster   *View    `json:"cluster,omitempty"`
	Operation int64    `json:"operation,omitempty"`
}

// Change is what an update makes of its cluster, written in the transaction that accepts it. A rollback puts back
// what was there before.
type Change struct {
	Template    string
	Definition  Definition // what steps of this operation, and later ones, are carried out by
	Size        int
	Services    []string
	CostPerHour float64
	New         []app.NewNode
	// Nodes are, by name, the services of standing nodes that have others from now on. What is named here stays, also where it
	// was leaving; where its machine was given back meanwhile, it is planned again, and the plan has to make it again.
	Nodes   map[string][]string
	Leaving []string // nodes that are given back; no configuration names them any more
	// Kept is the cluster of a failed machine that is kept for inspection and becomes the machine of the node KeptAs of New; "": none does.
	Kept, KeptAs string
	// Reservation is that of the cluster afterwards: nodes, cores and cost count, and Groups where they are set. Until the
	// operation has succeeded, the greater of the two holds. The zero value leaves it as it is.
	// Its CostPerHour is without VolumeCost.
	Reservation policy.Reservation
}

func (c *Change) LeavingNodes() []string {
	if c == nil {
		return nil
	}
	return c.Leaving
}

// RefusedBy is what is notified of a policy's no.
func RefusedBy(d policy.Decision, request int64) error {
	return &app.Error{Code: app.EForbidden, Reason: "policy", Message: d.Reason,
		Hint: fmt.Sprintf("Denied by %s. See request %d.", d.By(), request)}
}

// Moves reports whether a node is made, goes, or has other services afterwards. Where services were left undone, they are among those
// that it had.
func (n UpdatedNode) Moves() bool {
	return n.Change == plan.NodeNew || n.Change == plan.NodeGone || len(n.Added)+len(n.Removed) > 0
}

// AllWork says what is done to a service on a node, unless more is done to it already.
func (n *UpdatedNode) AllWork(service string, w plan.ServiceWork) {
	if n.Work == nil {
		n.Work = map[string]plan.ServiceWork{}
	}
	if slices.Index(serviceWorks, n.Work[service]) < slices.Index(serviceWorks, w) {
		n.Work[service] = w
	}
}

// Stays reports whether the node is there before and after, on the same machine.
func (n *UpdatedNode) Stays() bool { return n.Change == "" }
