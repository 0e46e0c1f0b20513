package scaling

import (
	"context"
	"net/url"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/template"
)

// Entry is a decision as the history tells of it. Until is when the same was last decided again.
type Entry struct {
	ID        int64     `json:"id"`
	At        time.Time `json:"at"`
	Until     time.Time `json:"until,omitzero"`
	Rule      string    `json:"rule,omitempty"` // schedule, min, max, or the name of a metric
	Value     *float64  `json:"value,omitempty"`
	From      int       `json:"from"`
	To        int       `json:"to"`
	Outcome   Outcome   `json:"outcome"`
	Note      string    `json:"note,omitempty"`
	Operation int64     `json:"operation,omitempty"`
	Request   int64     `json:"request,omitempty"`
}

// Same reports whether two tell of the same decision, apart from their time and value.
func (e Entry) Same(o Entry) bool {
	return e.Rule == o.Rule && e.From == o.From && e.To == o.To && e.Outcome == o.Outcome && e.Operation == o.Operation && e.Request == o.Request
}

// Kept is what the store keeps of a cluster.
type Kept struct {
	Rules     Rules
	State     State
	Measured  *Point // the latest that nodes have said
	ChangedBy string // who set the owner's rules
	ChangedAt time.Time
	Due       time.Time
	Version   int64
}

// LastOperation is the newest operation of a cluster that scaling has begun.
type LastOperation struct {
	ID     int64
	Status app.OperationStatus
	At     time.Time
	Error  string
}

// Due is a cluster whose scaling is to be seen to.
type Due struct {
	Kept
	Cluster app.Cluster
	Latest  LastOperation // zero: none
	Request int64         // of scaling's, that waits; 0: none
}

// Claim takes a due cluster, so that no other server sees to it until then.
type Claim struct {
	Due   Due
	Now   time.Time
	Until time.Time
}

// Move is the state after a cluster was seen to, and what the history and people get to read.
type Move struct {
	Due     Due
	After   State
	Next    time.Time // when to see to it again; zero: once something is measured
	Entries []Entry
	Notice  app.Notice // none where its kind is ""
	Now     time.Time
}

// Change is what a person sets. Exactly one of the last three is meant: Resume, or else Own and Off.
type Change struct {
	Tenant  string
	Cluster string
	Who     app.Actor
	Now     time.Time
	Resume  bool
	Own     *template.ScalingPolicy // nil: the template's
	Off     bool
}

// Store is what the service needs of the database.
type Store interface {
	// Scaling returns what is kept of a cluster; nil where it has no rules.
	Scaling(ctx context.Context, tenant, cluster string) (*Kept, error)
	ScalingHistory(ctx context.Context, tenant, cluster string, limit int) ([]Entry, error)
	// DueScaling returns clusters of all tenants that are to be seen to, found by an index.
	DueScaling(ctx context.Context, now time.Time, limit int) ([]Due, error)
	// ClaimScaling is false where another server was faster.
	ClaimScaling(ctx context.Context, c Claim) (bool, error)
	// MoveScaling writes what came of a claim; false where someone has changed the rules meanwhile.
	MoveScaling(ctx context.Context, m Move) (bool, error)
	SetScaling(ctx context.Context, c Change) error
	// User is ENotFound for an account that is gone.
	User(ctx context.Context, tenant, name string) (identity.User, error)
}

// Updates changes the size of clusters.
type Updates interface {
	Update(ctx context.Context, actor app.Actor, cluster string, m cluster.Update) (cluster.UpdateAnswer, error)
	PreviewUpdate(ctx context.Context, actor app.Actor, cluster string, m cluster.Update) (cluster.UpdatePreview, error)
}

// Prometheus answers queries, at addresses that tenants may reach.
type Prometheus interface {
	// Query returns the one number of an instant query.
	Query(ctx context.Context, url, query string) (float64, error)
}

// Clusters finds the clusters that an actor may see.
type Clusters interface {
	AuthorizedCluster(ctx context.Context, actor app.Actor, useCase, id string) (app.Cluster, error)
}

// Guard says, as far as it shows, whether tenants may reach an address.
type Guard interface{ CheckURL(u *url.URL) error }

// Config is what the service is created from. Only what says so may be nil.
type Config struct {
	Store      Store
	Now        func() time.Time
	Clusters   Clusters
	Updates    Updates
	Prometheus Prometheus // nil: no query is possible
	Guard      Guard      // nil: any address over https
}

// Service grows and shrinks clusters.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }
