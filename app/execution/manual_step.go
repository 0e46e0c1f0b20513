package execution

import (
	"cmp"
	"context"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/template"
)

// ManualStepStore keeps questions. They are opened and closed in the transactions that move their steps.
type ManualStepStore interface {
	// AnswerManualStep writes an answer and moves its step on, and with it all that the answer counts for, in one transaction.
	// EConflict, reason "answered", says who was faster; "not_asked" that no one is asked any more.
	AnswerManualStep(ctx context.Context, n NewAnswer) (ManualStep, error)
	// Answers returns the values that were last answered on some nodes of a cluster.
	Answers(ctx context.Context, tenant, cluster string, nodes []string) ([]NodeAnswer, error)
	// ManualStep returns one; ENotFound where that step asks no one.
	ManualStep(ctx context.Context, tenant string, operation int64, index int) (ManualStep, error)
	// ManualSteps returns a tenant's questions, oldest first.
	ManualSteps(ctx context.Context, tenant string, f ManualStepFilter) ([]ManualStep, error)
}

// ManualStepsConfig is what ManualSteps is created from. Only what says so may be nil.
type ManualStepsConfig struct {
	Store    ManualStepStore
	Now      func() time.Time
	Clusters *cluster.Finder
}

// ManualSteps are manual steps, which wait for what people answer.
type ManualSteps struct {
	ManualStepsConfig
}

// NewManualSteps returns them on top of what c holds.
func NewManualSteps(c ManualStepsConfig) *ManualSteps { return &ManualSteps{ManualStepsConfig: c} }

// ManualStepState is what has become of a question.
type ManualStepState string

// The states of a question. What was withdrawn by a pause is asked again with the resume.
const (
	ManualStepLater     ManualStepState = "later" // its turn has not come
	ManualStepOpen      ManualStepState = "open"
	ManualStepAnswered  ManualStepState = "answered"
	ManualStepRefused   ManualStepState = "refused"
	ManualStepOverdue   ManualStepState = "overdue"   // no one answered in time
	ManualStepWithdrawn ManualStepState = "withdrawn" // the operation was paused, cancelled or taken over
)

// ManualStep is what a person is asked at a step of an operation.
type ManualStep struct {
	Number      int64             `json:"-"` // by which lists continue
	Operation   int64             `json:"operation"`
	Index       int               `json:"index"`
	Attempt     int               `json:"attempt"` // which an answer has to name
	Step        string            `json:"step"`
	Node        string            `json:"node,omitempty"`
	Service     string            `json:"service,omitempty"`
	Action      app.Action        `json:"action"`
	Tenant      string            `json:"tenant"`
	Cluster     string            `json:"cluster"`
	ClusterName string            `json:"cluster_name"`
	Kind        app.OperationKind `json:"kind"` // of the operation
	Owner       string            `json:"owner"`
	Requester   string            `json:"requester"`
	Person      template.Person   `json:"person"` // with Ask and Help as they were expanded
	State       ManualStepState   `json:"state"`
	RequestedAt time.Time         `json:"requested_at,omitzero"`
	Until       time.Time         `json:"until,omitzero"` // what happens then says Person.OnTimeout
	AnsweredAt  time.Time         `json:"answered_at,omitzero"`
	AnsweredBy  string            `json:"answered_by,omitempty"`
	Reason      string            `json:"reason,omitempty"` // of a refusal
	Access      app.Access        `json:"-"`                // of who looks, to the cluster
	// Mine reports whether who looks may answer; Waits is whom it waits for, in words.
	Mine  bool   `json:"mine"`
	Waits string `json:"waits"`
	// MoreNodes is how many more nodes the answer applies to.
	MoreNodes int `json:"more_nodes,omitempty"`
}

// Subject is where it is answered: beside the other questions of its cluster.
func (q ManualStep) Subject() app.Subject {
	return app.Subject{Kind: app.SubjectManualSteps, ID: q.Cluster}
}

// Title is what it is about, in a few words.
func (q ManualStep) Title() string {
	name := cmp.Or(q.ClusterName, q.Cluster)
	if q.Action == app.ActionAsk {
		return name + ": continue " + q.Kind.The() + "?"
	}
	where := q.Service + " " + string(q.Action)
	if q.Node != "" && !q.Person.Once {
		where += " on " + q.Node
	}
	return name + ": " + where
}

// StepAnswer is what a person says to a question.
type StepAnswer struct {
	Operation int64 `json:"operation"`
	Index     int   `json:"index"`
	Attempt   int   `json:"attempt"` // the fence
	// Refuse is why the step is to fail; "" lets it continue.
	Refuse string         `json:"refuse,omitempty"`
	Values map[string]any `json:"values,omitempty"`
}

// ManualStepFilter narrows a list of questions.
type ManualStepFilter struct {
	Cluster   string
	Operation int64
	All       bool  // also those that are not open; else only those that are
	After     int64 // only those with a greater ManualStep.Number
	Limit     int
	Reader    *app.ClusterReader // only of clusters that it may see, with ManualStep.Access; nil: all
}

// NewAnswer is an answer about to be written, checked already.
type NewAnswer struct {
	Tenant    string
	Operation int64
	Index     int
	Attempt   int
	Refuse    string
	Values    map[string]app.AnswerValue // of all fields; not those of a refusal
	Who       app.Actor
	Now       time.Time
}

// NodeAnswer is what was answered at a service's steps on a node: its outputs, which macros can speak of.
type NodeAnswer struct {
	Node    string
	Service string
	Values  map[string]app.AnswerValue
}
