package portal

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

// questioning gives the power; nil where there is none.
func (p *Portal) questioning() Questioning {
	q, _ := p.muster.(Questioning)
	return q
}

type questionListInput struct {
	Cluster string `query:"cluster" maxLength:"256" doc:"Only those of this cluster, by id or name"`
	Mine    bool   `query:"mine" doc:"Only those that you may answer"`
}

type questionList struct {
	Questions []app.Question `json:"questions" nullable:"false"`
}

func (p *Portal) apiQuestionList(ctx context.Context, in *questionListInput) (*body[questionList], error) {
	list, err := p.questioning().Questions(ctx, caller(ctx), execution.QuestionQuery{Cluster: in.Cluster, Mine: in.Mine})
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[questionList]{questionList{orEmpty(list)}}, nil
}

type answerInput struct {
	ID   string `path:"id" doc:"The cluster's id or name"`
	Body execution.StepAnswer
}

func (p *Portal) apiQuestionAnswer(ctx context.Context, in *answerInput) (*body[app.Question], error) {
	q, err := p.questioning().AnswerStep(ctx, caller(ctx), in.ID, in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.Question]{q}, nil
}
