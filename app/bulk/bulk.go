package bulk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/lease"
	"muster/app/template"
)

// Action is what is done to each cluster.
type Action string

// The actions.
const (
	Extend Action = "extend"
	Sleep  Action = "sleep"
	Wake   Action = "wake"
	Delete Action = "delete"
)

// Most is how many clusters one request can name, and maxWord how long an ID or name can be.
const (
	Most    = 100
	maxWord = 128
	mostAsk = 200 // open requests of the actor that are looked at
)

// Ask is what is asked for. Of an extension, either By or Until is set, for all clusters that don't have their own time.
type Ask struct {
	Action  Action
	Targets []Target
	By      time.Duration
	Until   time.Time
	Reason  string // of admins, for leases beyond the template's limits
}

// Target is one of the clusters, as a preview showed it.
type Target struct {
	ID       string    // or name
	Until    time.Time // the lease's new end. Asking for it twice extends the lease once
	PlanHash string    // of a sleep or wake; "" accepts any plan
}

// Targets are clusters without what a preview said of them.
func Targets(ids []string) []Target {
	list := make([]Target, len(ids))
	for i, id := range ids {
		list[i].ID = id
	}
	return list
}

// Outcome is what happens to a cluster, or has happened.
type Outcome string

// The outcomes. The first two are of previews.
const (
	Ready     Outcome = "ready"     // it will be done
	Approval  Outcome = "approval"  // it will be requested, since it needs approval or waits for a maintenance window
	Done      Outcome = "done"      // it was done, or has begun
	Requested Outcome = "requested" // a request was made, or had been made before
	Unchanged Outcome = "unchanged" // there's nothing to do
	Refused   Outcome = "refused"
)

// Result is that of one cluster.
type Result struct {
	Cluster string    `json:"cluster"` // ID; of one that wasn't found, what was asked for
	Name    string    `json:"name"`
	Owner   string    `json:"owner,omitempty"`
	Nodes   int       `json:"nodes,omitempty"`
	Outcome Outcome   `json:"outcome"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Code    app.Code  `json:"code,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Request int64     `json:"request,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	// PerHour is by how much the cost per hour changes, and Cost what an extension costs.
	PerHour  float64 `json:"cost_per_hour_change,omitempty"`
	Cost     float64 `json:"cost,omitempty"`
	Currency string  `json:"currency,omitempty"`

	PlanHash string `json:"-"`
	Busy     bool   `json:"-"` // an operation is in progress, which a deletion cancels
	Err      error  `json:"-"` // of a refusal
}

// Report is the results in the order of the request.
type Report struct {
	Action  Action   `json:"action"`
	Results []Result `json:"results"`
}

// Failed counts the clusters to which it wasn't done.
func (r Report) Failed() int { return r.Count(Refused) }

// Count counts the results with an outcome.
func (r Report) Count(o Outcome) (n int) {
	for _, x := range r.Results {
		if x.Outcome == o {
			n++
		}
	}
	return n
}

// Clusters lists clusters.
type Clusters interface {
	ClusterPage(ctx context.Context, a app.Actor, f app.ClusterFilter) (cluster.Page, error)
}

// Leases extends leases.
type Leases interface {
	PreviewExtend(ctx context.Context, a app.Actor, cluster string, r template.LeaseRequest) (time.Time, error)
	ExtendLease(ctx context.Context, a app.Actor, cluster string, r template.LeaseRequest) (lease.Outlook, error)
}

// Sleeping puts clusters to sleep and wakes them.
type Sleeping interface {
	PreviewSleep(ctx context.Context, a app.Actor, cluster string) (cluster.UpdatePreview, error)
	PreviewWake(ctx context.Context, a app.Actor, cluster string) (cluster.UpdatePreview, error)
	SleepCluster(ctx context.Context, a app.Actor, cluster, planHash string) (cluster.UpdateAnswer, error)
	WakeCluster(ctx context.Context, a app.Actor, cluster, planHash string) (cluster.UpdateAnswer, error)
}

// Deletes deletes clusters.
type Deletes interface {
	DeleteCluster(ctx context.Context, a app.Actor, id string) (cluster.View, error)
}

// Requests lists requests.
type Requests interface {
	Requests(ctx context.Context, a app.Actor, f cluster.RequestFilter) ([]cluster.Request, error)
}

// Config is what the service is created from.
type Config struct {
	Now      func() time.Time
	Clusters Clusters
	Leases   Leases
	Sleeping Sleeping
	Deletes  Deletes
	Requests Requests
}

// Service acts on several clusters.
type Service struct {
	Config
}

// New returns the service.
func New(c Config) *Service { return &Service{Config: c} }

// PreviewBulk says what RunBulk would do, and what it would refuse. Nothing is changed.
func (s *Service) PreviewBulk(ctx context.Context, actor app.Actor, ask Ask) (Report, error) {
	return s.each(ctx, actor, "PreviewBulk", ask, s.preview)
}

// RunBulk does it to each cluster, one after the other.
func (s *Service) RunBulk(ctx context.Context, actor app.Actor, ask Ask) (Report, error) {
	return s.each(ctx, actor, "RunBulk", ask, s.run)
}

// job is what is asked for of one cluster.
type job struct {
	actor   app.Actor
	ask     Ask
	target  Target
	cluster app.ClusterSummary
	request *cluster.Request // that is open for the same
}

func (s *Service) each(ctx context.Context, actor app.Actor, useCase string, ask Ask, do func(context.Context, job, *Result)) (Report, error) {
	report := Report{Action: ask.Action, Results: []Result{}}
	if err := actor.Authorize(useCase); err != nil {
		return report, err
	}
	if err := ask.check(); err != nil {
		return report, err
	}
	found, err := s.find(ctx, actor, ask.Targets)
	if err != nil {
		return report, err
	}
	open, err := s.open(ctx, actor, ask.Action)
	if err != nil {
		return report, err
	}
	seen := map[string]bool{}
	for i, t := range ask.Targets {
		c, err := found[i].cluster, found[i].err
		if err != nil {
			r := Result{Cluster: t.ID, Name: t.ID}
			r.refuse(err)
			report.Results = append(report.Results, r)
			continue
		}
		if seen[c.ID] {
			continue
		}
		seen[c.ID] = true
		r := Result{Cluster: c.ID, Name: c.Name, Owner: c.Owner, Nodes: c.Size, Currency: c.Currency, Until: c.ExpiresAt, Busy: running(c)}
		j := job{actor: actor, ask: ask, target: t, cluster: c, request: matching(open, c.ID, t.PlanHash)}
		if err := actor.MayChange(ask.Action.useCase(), c.Cluster); err != nil {
			r.refuse(err)
		} else if text := j.unchanged(); text != "" {
			r.Outcome, r.Message = Unchanged, text
		} else {
			do(ctx, j, &r)
		}
		report.Results = append(report.Results, r)
	}
	return report, nil
}

// check reports what is wrong with a request as a whole.
func (a Ask) check() error {
	wrong := func(field, hint, message string, args ...any) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf(message, args...), Hint: hint}
	}
	switch {
	case a.Action.useCase() == "":
		return wrong("action", "Use extend, sleep, wake or delete.", "Unknown action %.40q.", string(a.Action))
	case len(a.Targets) == 0:
		return wrong("clusters", "Name at least one cluster.", "No clusters are selected.")
	case len(a.Targets) > Most:
		return wrong("clusters", "Split the request.", "%d clusters are selected; at most %d are allowed at once.", len(a.Targets), Most)
	}
	own := true
	for _, t := range a.Targets {
		if t.ID == "" || len(t.ID) > maxWord {
			return wrong("clusters", "Use IDs or names.", "Invalid cluster %.40q.", t.ID)
		}
		own = own && !t.Until.IsZero()
	}
	if a.Action != Extend {
		if a.By != 0 || !a.Until.IsZero() {
			return wrong("by", "Use it with the action extend.", "Only extensions have a duration or an end.")
		}
		return nil
	}
	switch {
	case a.By < 0:
		return wrong("by", "To shorten a lease, change it on its own.", "The duration must be more than 0.")
	case !own && (a.By == 0) == a.Until.IsZero():
		return wrong("by", `For example "8h".`, "Set either by how much to extend the leases or until when.")
	}
	return nil
}

// useCase is the one for a single cluster.
func (a Action) useCase() string {
	return map[Action]string{Extend: "ExtendLease", Sleep: "SleepCluster", Wake: "WakeCluster", Delete: "DeleteCluster"}[a]
}

// kind is that of the operation.
func (a Action) kind() app.OperationKind {
	return map[Action]app.OperationKind{Sleep: app.OperationSleep, Wake: app.OperationWake, Delete: app.OperationDelete}[a]
}

func running(c app.ClusterSummary) bool { return c.Operation != nil && !c.Operation.Status.Ended() }

// refuse says why it isn't done.
func (r *Result) refuse(err error) {
	e := app.AsError(err)
	if e.Code == app.EInternal { // the cause is in Err, for logs
		e = &app.Error{Code: app.EInternal, Message: "Internal error.", Hint: "Try again. If it happens again, tell an admin."}
	}
	if e.Code == app.EInternal && errors.Is(err, context.DeadlineExceeded) {
		e = &app.Error{Code: app.ETimeout, Message: "The request timed out.", Hint: "Try again with fewer clusters."}
	}
	r.Outcome, r.Message, r.Hint, r.Code, r.Reason, r.Err = Refused, e.Message, e.Hint, e.Code, e.Reason, err
}
