package execution

import (
	"context"
	"time"

	"muster/app"
)

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

// QuestionStore keeps questions. They are opened and closed in the transactions that move their steps.
type QuestionStore interface {
	// Questions gives a tenant's questions, oldest first.
	Questions(ctx context.Context, tenant string, f QuestionFilter) ([]app.Question, error)
	// Question gives one; ENotFound where that step asks nobody.
	Question(ctx context.Context, tenant string, operation int64, index int) (app.Question, error)
	// AnswerQuestion writes an answer and moves its step on, and with it all that the answer counts for, in one transaction.
	// EConflict, reason "answered", says who was faster; "not_asked" that nobody is asked any more.
	AnswerQuestion(ctx context.Context, n NewAnswer) (app.Question, error)
	// Answers gives the values that were last answered on some nodes of a cluster.
	Answers(ctx context.Context, tenant, cluster string, nodes []string) ([]NodeAnswer, error)
}

// NodeAnswer is what was answered at a service's steps on a node: its outputs, which macros can speak of.
type NodeAnswer struct {
	Node    string
	Service string
	Values  map[string]app.AnswerValue
}
