package site

import (
	"context"

	"muster/app"
	"muster/app/execution"
)

// Asking counts the manual steps waiting for a person; 0 on errors.
func (p *Site) Asking(ctx context.Context, a app.Actor) int {
	list, err := p.ManualSteps.ManualSteps(ctx, a, execution.ManualStepQuery{Mine: true, Limit: inboxShown})
	if err != nil {
		return 0
	}
	return min(len(list), inboxShown)
}
