package execution

import (
	"cmp"
	"context"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/template"
)

// QuestionStore keeps questions. They are opened and closed in the transactions that move their steps.
type QuestionStore interface {
	// AnswerQuestion writes an answer and moves its step on, and with it all that the answer counts for, in one transaction.
	// EConflict, reason "answered", says who was faster; "not_asked" that no one is asked any more.
	AnswerQuestion(ctx context.Context, n NewAnswer) (Question, error)
	// Answers returns the values that were last answered on some nodes of a cluster.
	Answers(ctx context.Context, tenant, cluster string, nodes []string) ([]NodeAnswer, error)
	// Question returns one; ENotFound where that step asks no one.
	Question(ctx context.Context, tenant string, operation int64, index int) (Question, error)
	// Questions returns a tenant's questions, oldest first.
	Questions(ctx context.Context, tenant string, f QuestionFilter) ([]Question, error)
}

// QuestionsConfig is what Questions is created from. Only what says so may be nil.
type QuestionsConfig struct {
	Store    QuestionStore
	Now      func() time.Time
	Clusters *cluster.Finder
}

// Questions are manual steps, which wait for what people answer.
type Questions struct {
	QuestionsConfig
}

// NewQuestions returns them on top of what c holds.
func NewQuestions(c QuestionsConfig) *Questions { return &Questions{QuestionsConfig: c} }

// QuestionState is what has become of a question.
type QuestionState string

// The states of a question. What was withdrawn by a pause is asked again with the resume.
const (
	QuestionLater     QuestionState = "later" // its turn has not come
	QuestionOpen      QuestionState = "open"
	QuestionAnswered  QuestionState = "answered"
	QuestionRefused   QuestionState = "refused"
	QuestionOverdue   QuestionState = "overdue"   // no one answered in time
	QuestionWithdrawn QuestionState = "withdrawn" // the operation was paused, cancelled or taken over
)

// Question is what a person is asked at a step of an operation.
type Question struct {
	Number      int64             `json:"-"` // by which lists go on
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
	State       QuestionState     `json:"state"`
	AskedAt     time.Time         `json:"asked_at,omitzero"`
	Until       time.Time         `json:"until,omitzero"` // what happens then says Person.OnTimeout
	AnsweredAt  time.Time         `json:"answered_at,omitzero"`
	AnsweredBy  string            `json:"answered_by,omitempty"`
	Reason      string            `json:"reason,omitempty"` // of a refusal
	Access      app.Access        `json:"-"`                // of who looks, to the cluster
	// Mine tells whether who looks may answer; Waits is whom it waits for, in words.
	Mine  bool   `json:"mine"`
	Waits string `json:"waits"`
	// Same is how many more nodes the answer counts for.
	Same int `json:"same,omitempty"`
}

// Subject is where it is answered: beside the other questions of its cluster.
func (q Question) Subject() app.Subject {
	return app.Subject{Kind: app.SubjectQuestions, ID: q.Cluster}
}

// Title is what it is about, in a few words.
func (q Question) Title() string {
	name := cmp.Or(q.ClusterName, q.Cluster)
	if q.Action == app.ActionAsk {
		return name + ": continue the " + q.Kind.Words() + " go on?"
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
	// Refuse is why the step is to fail; "" lets it go on.
	Refuse string         `json:"refuse,omitempty"`
	Values map[string]any `json:"values,omitempty"`
}

// QuestionFilter narrows a list of questions.
type QuestionFilter struct {
	Cluster   string
	Operation int64
	All       bool  // also those that are not open; else only those that are
	After     int64 // only those with a greater Question.Number
	Limit     int
	Reader    *app.ClusterReader // only of clusters that it may see, with Question.Access; nil: all
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
