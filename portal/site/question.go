package site

import (
	"context"

	"muster/app"
	"muster/app/execution"
)

// Asking counts what waits for someone's answer. Where it cannot be told, nothing is shown.
func (p *Site) Asking(ctx context.Context, a app.Actor) int {
	list, err := p.Questions.Questions(ctx, a, execution.QuestionQuery{Mine: true, Limit: inboxShown})
	if err != nil {
		return 0
	}
	return min(len(list), inboxShown)
}
