package cluster

import (
	"cmp"
	"context"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/family"
	"muster/app/health"
	"muster/app/layout"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/providervalue"
	"muster/app/template"
	"muster/app/volume"
	"muster/app/window"
)

// ViewStore is what Views needs of the database.
type ViewStore interface {
	// BuildOf returns the build that a cluster was created for, and nil where there is none.
	BuildOf(ctx context.Context, tenant string, cluster string) (*Build, error)
	ClusterHealth(ctx context.Context, tenant string, cluster string) (*health.ClusterHealth, error)
	// Clusters returns them newest first, each with its latest operation.
	// It is ENotFound where f.After is none of the tenant's.
	Clusters(ctx context.Context, tenant string, f app.ClusterFilter) ([]app.ClusterSummary, error)
	// CountClusters counts them by status, whatever the filter's own status, order and page.
	CountClusters(ctx context.Context, tenant string, f app.ClusterFilter) (app.ClusterCounts, error)
	Definition(ctx context.Context, tenant string, cluster string) (Definition, error)
	// Nodes returns them in number order: those that the cluster has, is to have, or is deleting. Those that an operation which
	// has succeeded gave back are no part of it any more and left out, here as in View; receipts and reports keep their names.
	// So what has the status deleted is left of an operation that has not ended well, or the whole cluster is gone. A machine that is
	// made again is planned again from when the old one was given back.
	Nodes(ctx context.Context, tenant string, cluster string) ([]app.Node, error)
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
	// BackfillOf returns what a cluster lacks; nil for nothing.
	BackfillOf(ctx context.Context, tenant string, cluster string) (*Backfill, error)
	Unfinished(ctx context.Context, tenant string, operation int64) (Unfinished, error)
	// View returns a cluster with its nodes and operations as they were at one moment. Links are left out.
	View(ctx context.Context, tenant string, id string) (View, error)
}

// ViewsConfig is what Views is created from.
type ViewsConfig struct {
	Store    ViewStore
	Now      func() time.Time
	Catalogs *catalog.Service
	Finder   *Finder
	Masks    *Masks
	Windows  *window.Service
}

// Views shows clusters, one or many.
type Views struct {
	ViewsConfig
}

// NewViews returns Views on top of their needs.
func NewViews(c ViewsConfig) *Views { return &Views{ViewsConfig: c} }

// CreateRequest asks for a cluster. Empty fields of LayoutRequest mean the template's defaults. Lease nil means the
// template's initial lease; 0 means forever, where the template allows it. Config is merged over the template's.
// PlanHash, when set, must be the hash of the plan that is made now, so that what was previewed is what runs.
type CreateRequest struct {
	layout.Request
	Name      string         `json:"name"`
	Lease     *time.Duration `json:"lease,omitempty"`
	DNSSuffix string         `json:"dns_suffix,omitempty"`
	Config    map[string]any `json:"config,omitempty"`
	// Parameters are values of the template's parameters, by name; those left out are what the template says.
	Parameters map[string]any `json:"parameters,omitempty"`
	PlanHash   string         `json:"plan_hash,omitempty"`
	// OnFailure is what happens automatically when the create fails or is cancelled.
	OnFailure app.FailureChoice `json:"on_failure,omitempty"`
	template.PartialOverride
	layout.PlaceOptions
	// Visibility "" is the tenant's default. Group is one whose members own the cluster together with the one who asks.
	Visibility  app.Visibility    `json:"visibility,omitempty"`
	Group       string            `json:"group,omitempty"`
	Description string            `json:"description,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"` // those that it lacks are the template's defaults
	// Volumes are kept volumes to use instead of new ones.
	Volumes []volume.Use `json:"volumes,omitempty"`
	// ProviderValues are settings of the provider, such as credentials of one's own. They are never shown again.
	ProviderValues providervalue.Values `json:"provider_values,omitempty"`
	// Build is the build that it is for; nil for none.
	Build *app.BuildClaim `json:"-"`
}

// Preview is what a create would do, worked out before anything is accepted.
type Preview struct {
	Template string        `json:"template"`
	Layout   layout.Layout `json:"layout"`
	Plan     plan.Plan     `json:"plan"`
	PlanHash string        `json:"plan_hash"`
	Duration time.Duration `json:"duration"`       // estimate, on unlimited workers
	Lease    time.Duration `json:"lease"`          // 0: forever
	Cost     float64       `json:"cost,omitempty"` // over the whole lease; 0 when it has no end or no price is known
	// Decision is what policies say about it; nil where none applies. Lease and cost are as they leave it.
	Decision *policy.Decision `json:"decision,omitempty"`
	// FromPools says which pool machines it takes; nil for nothing.
	FromPools *PoolMatch `json:"from_pools,omitempty"`
	// Baked says which nodes start from baked images, what that saves, and what isn't baked.
	Baked []string `json:"baked,omitempty"`
	// Problems are what would fail, as far as known before anything is created: scripts that no shell can read, and what the provider would refuse.
	Problems []family.Finding `json:"problems,omitempty"`
	// Account says whether the provider has been asked; nil where it cannot be.
	Account *AccountAnswer `json:"account,omitempty"`
	// Cheaper is what the cheapest layout costs, where that is a real amount less.
	Cheaper *CheaperLayout `json:"cheaper,omitempty"`
	// Volumes are those that its nodes will have, beside the price of the layout.
	Volumes []volume.Planned `json:"volumes,omitempty"`
	// Warnings are to be read before it is asked for, such as that the template is deprecated.
	Warnings []string `json:"warnings,omitempty"`
	// Places are the candidates of a request for one of several places, in the order in which they are tried; what is shown is the first one.
	Places []layout.Candidate `json:"places,omitempty"`
	// ProviderFields are the settings of the layout's provider that users can set.
	ProviderFields []providervalue.Field `json:"provider_fields,omitempty"`
}

// View is all about one cluster except steps and logs. Operations are newest first. Links have their macros
// expanded as far as addresses are known; those that cannot be expanded yet are left out.
type View struct {
	app.Cluster
	Nodes      []app.Node      `json:"nodes"`
	Operations []app.Operation `json:"operations"`
	Links      []app.Link      `json:"links"`
	// TemplateVersion is the version of the template that the cluster was created from; nil if that isn't known, and for deleted clusters.
	TemplateVersion *template.UsedVersion `json:"template_version,omitempty"`
	// Parameters are the values that the template's parameters have by now, as far as they set configuration, by name.
	Parameters map[string]any `json:"parameters,omitempty"`
	// Health is nil where the cluster has no health checks.
	Health *health.ClusterHealth `json:"health,omitempty"`
	// Build is what it was made for; nil where that is no build, or one that is long forgotten.
	Build *Build `json:"build,omitempty"`
	// Problem is what failed and the options to recover; nil if the cluster hasn't failed.
	Problem *Problem `json:"problem,omitempty"`
	// Actions are the changes that its state and the reader's rights allow; forms and buttons offer these and no others.
	Actions Actions `json:"actions"`
	// Backfill is nil where the cluster has all the nodes that were asked for, or no one wants the others any more.
	Backfill *Backfill `json:"backfill,omitempty"`
	// Changes are what policies changed in the request, in the answer to it.
	Changes []policy.Change `json:"changes,omitempty"`
	// Maintenance are the windows that its changes wait for, and what waits; nil where there are none.
	Maintenance *window.View `json:"maintenance,omitempty"`
}

// Build is the build that a cluster was made for: it goes when the build ends.
type Build struct {
	ID    int64          `json:"id"`
	Hook  string         `json:"hook"`
	State app.BuildState `json:"state"`
	Event app.BuildEvent `json:"event"` // that began it
}

// LogFilter narrows a cluster's log. Lines come oldest first: those after After, or, with Tail, the last Limit lines. Both keep to
// those before Before, where that is set.
type LogFilter struct {
	Operation int64
	Node      string
	Step      string
	Stream    app.Stream
	Text      string // for SearchLogs only
	After     int64
	Before    int64
	Tail      bool
	Limit     int // 0: 500; at most 5000
}

// settled returns the request with what parameters set where it says nothing itself, and what they come to.
func (r CreateRequest) resolved(t *template.Template) (CreateRequest, template.Resolved, error) {
	s, err := t.Resolve(r.Parameters)
	if err != nil {
		return r, s, err
	}
	if err := t.CheckParameterConfig(r.Config); err != nil {
		return r, s, err
	}
	r.Provider, r.Hardware, r.Image = cmp.Or(r.Provider, s.Provider), cmp.Or(r.Hardware, s.Hardware), cmp.Or(r.Image, s.Image)
	r.DNSSuffix = cmp.Or(r.DNSSuffix, s.DNSSuffix)
	if r.Size == 0 {
		r.Size = s.Size
	}
	return r, s, nil
}
