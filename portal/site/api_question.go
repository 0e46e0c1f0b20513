package site

import (
	"context"

	"muster/app"
	"muster/app/execution"
)

// Questioning is a power that a Muster may have: steps that people carry out.
type Questioning interface {
	// Questions gives what people are asked at the moment, oldest first.
	Questions(ctx context.Context, a app.Actor, q execution.QuestionQuery) ([]app.Question, error)
	// AnswerStep is EConflict, reason "answered", where somebody was faster.
	AnswerStep(ctx context.Context, a app.Actor, cluster string, s execution.StepAnswer) (app.Question, error)
}

// Questioning gives the power; nil where there is none.
func (p *Site) Questioning() Questioning {
	q, _ := p.Muster.(Questioning)
	return q
}
