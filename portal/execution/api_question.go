package execution

import (
	"context"

	"muster/app/execution"
	"muster/portal/site"
)

type questionListInput struct {
	Cluster string `query:"cluster" maxLength:"256" doc:"Only manual steps of this cluster, by id or name"`
	Mine    bool   `query:"mine" doc:"Only manual steps that the caller can answer"`
}

type questionList struct {
	Questions []execution.Question `json:"questions" nullable:"false"`
}

func (p *Service) apiQuestionList(ctx context.Context, in *questionListInput) (*site.Body[questionList], error) {
	list, err := p.Questions.Questions(ctx, site.Caller(ctx), execution.QuestionQuery{Cluster: in.Cluster, Mine: in.Mine})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[questionList]{Body: questionList{site.OrEmpty(list)}}, nil
}

type answerInput struct {
	ID   string `path:"id" doc:"Cluster id or name"`
	Body execution.StepAnswer
}

func (p *Service) apiQuestionAnswer(ctx context.Context, in *answerInput) (*site.Body[execution.Question], error) {
	q, err := p.Questions.AnswerStep(ctx, site.Caller(ctx), in.ID, in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[execution.Question]{Body: q}, nil
}
