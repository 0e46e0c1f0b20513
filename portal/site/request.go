package site

import (
	"context"

	"muster/app"
	appoperation "muster/app/operation"
)

// Requesting is a power that a Muster may have: requests that policies decide on and people approve. A portal without it makes
// clusters at once.
type Requesting interface {
	// Ask gives the cluster, or the request that waits. A policy's refusal is EForbidden, reason "policy".
	Ask(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Answer, error)
	// SubmitRequest is Ask, and gives only the id of the cluster.
	SubmitRequest(ctx context.Context, a app.Actor, r app.ClusterRequest) (app.Answer, error)
	Requests(ctx context.Context, a app.Actor, f app.RequestFilter) ([]app.Request, error)
	Request(ctx context.Context, a app.Actor, id int64) (app.Request, error)
	// Review, Confirm and BreakGlass are EConflict, reason "plan_changed", where another plan was shown.
	Review(ctx context.Context, a app.Actor, id int64, v appoperation.ReviewRequest) (app.Request, error)
	Confirm(ctx context.Context, a app.Actor, id int64, planHash string) (app.Request, error)
	Withdraw(ctx context.Context, a app.Actor, id int64, reason string) (app.Request, error)
	BreakGlass(ctx context.Context, a app.Actor, id int64, planHash, reason string) (app.Request, error)
}

// Requesting gives the power; nil where there is none.
func (p *Site) Requesting() Requesting {
	m, _ := p.Muster.(Requesting)
	return m
}

// inboxShown is the greatest number beside the entry of the menu.
const inboxShown = 99

// Inbox counts what waits for somebody. Where it cannot be told, nothing is shown.
func (p *Site) Inbox(ctx context.Context, a app.Actor) int {
	m := p.Requesting()
	if m == nil {
		return 0
	}
	list, err := m.Requests(ctx, a, app.RequestFilter{View: app.RequestsInbox, Limit: inboxShown, Bare: true})
	if err != nil {
		return 0
	}
	return len(list)
}
