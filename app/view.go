package app

import "time"

// ClusterRequest asks for a cluster. Empty fields of LayoutRequest mean the template's defaults. Lease nil means the
// template's initial lease; 0 means for ever, where the template allows it. Config is merged over the template's.
// PlanHash, when set, must be the hash of the plan that is made now, so that what was previewed is what runs.
type ClusterRequest struct {
	LayoutRequest
	Name      string         `json:"name"`
	Lease     *time.Duration `json:"lease,omitempty"`
	DNSSuffix string         `json:"dns_suffix,omitempty"`
	Config    map[string]any `json:"config,omitempty"`
	// Parameters are values of the template's parameters, by name; those left out are what the template says.
	Parameters map[string]any `json:"parameters,omitempty"`
	PlanHash   string         `json:"plan_hash,omitempty"`
	// OnFailure is what shall happen by itself when the create fails or is cancelled.
	OnFailure FailureChoice `json:"on_failure,omitempty"`
	Survival
	// Visibility "" is the tenant's default. Group is one whose members own the cluster together with the one who asks.
	Visibility Visibility `json:"visibility,omitempty"`
	Group      string     `json:"group,omitempty"`
	// Build is the build that it is for; nil for none.
	Build *BuildClaim `json:"-"`
}

// Preview is what a create would do, worked out before anything is accepted.
type Preview struct {
	Template string        `json:"template"`
	Layout   Layout        `json:"layout"`
	Plan     Plan          `json:"plan"`
	PlanHash string        `json:"plan_hash"`
	Duration time.Duration `json:"duration"`       // estimate, on unlimited workers
	Lease    time.Duration `json:"lease"`          // 0: for ever
	Cost     float64       `json:"cost,omitempty"` // over the whole lease; 0 when it has no end or no price is known
	// Decision is what policies say about it; nil where none applies. Lease and cost are as they leave it.
	Decision *Decision `json:"decision,omitempty"`
	// FromPools tells what of it stands ready now; nil for nothing.
	FromPools *PoolOffer `json:"from_pools,omitempty"`
	// Problems are what would fail, as far as it can be told before anything is created: scripts that no shell can read, and what the provider would refuse.
	Problems []Finding `json:"problems,omitempty"`
	// Account says whether the provider has been asked; nil where it cannot be.
	Account *AccountAnswer `json:"account,omitempty"`
	// Cheaper is what the cheapest layout costs, where that is a real amount less.
	Cheaper *CheaperLayout `json:"cheaper,omitempty"`
	// Warnings are to be read before it is asked for, such as that the template is deprecated.
	Warnings []string `json:"warnings,omitempty"`
}

// ClusterSummary is one line of a list of clusters. Operation is the latest one.
type ClusterSummary struct {
	Cluster
	Operation *Operation `json:"operation,omitempty"`
}

// ClusterView is all about one cluster except steps and logs. Operations are newest first. Links have their macros
// expanded as far as addresses are known; those that cannot be expanded yet are left out.
type ClusterView struct {
	Cluster
	Nodes      []Node      `json:"nodes"`
	Operations []Operation `json:"operations"`
	Links      []Link      `json:"links"`
	// MadeFrom is the version of the template that it was made from; nil where that is not known, and of clusters that are gone.
	MadeFrom *MadeFrom `json:"made_from,omitempty"`
	// Parameters are the values that the template's parameters have by now, as far as they set configuration, by name.
	Parameters map[string]any `json:"parameters,omitempty"`
	// Health is nil where nobody looks after the cluster.
	Health *ClusterHealth `json:"health,omitempty"`
	// Build is what it was made for; nil where that is no build, or one that is long forgotten.
	Build *ClusterBuild `json:"build,omitempty"`
	// Trouble is what is wrong and which ways lead on; nil where the cluster hasn't failed.
	Trouble *Trouble `json:"trouble,omitempty"`
	// Actions are the changes that its state and the reader's rights allow; forms and buttons offer these and no others.
	Actions Actions `json:"actions"`
	// TopUp is nil where the cluster has all the nodes that were asked for, or nobody wants the others any more.
	TopUp *TopUp `json:"top_up,omitempty"`
}

// ClusterBuild is the build that a cluster was made for: it goes when the build ends.
type ClusterBuild struct {
	ID    int64      `json:"id"`
	Hook  string     `json:"hook"`
	State BuildState `json:"state"`
	Event BuildEvent `json:"event"` // that began it
}

// ClusterFilter narrows a list. The zero value lists live clusters, newest first.
type ClusterFilter struct {
	Deleted bool   // also those that are gone
	Name    string // only this exact name
	Owner   string // only those of this user
	Limit   int    // 0: 200; at most 1000

	Status   ClusterStatus // only those of this status; ClusterDeleted gives those that are gone
	Template string        // only those of this template
	Provider string        // only those at this provider
	Text     string        // only those that have it in name, id, owner or template, in small letters or large
	IDs      []string      // only these; at most 100
	Sort     ClusterSort   // "": newest first
	After    string        // the id of the last cluster of the page before; "": from the beginning

	Reader *ClusterReader // only what it may see; nil: all. App sets it.
}

// LogFilter narrows a cluster's log. Lines come oldest first: those after After, or, with Tail, the last Limit lines. Both keep to
// those before Before, where that is set.
type LogFilter struct {
	Operation int64
	Node      string
	Step      string
	Stream    Stream
	Text      string // for SearchLogs only
	After     int64
	Before    int64
	Tail      bool
	Limit     int // 0: 500; at most 5000
}
