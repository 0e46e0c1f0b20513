package app

import (
	"context"
	"fmt"
	"slices"
)

// mostOpen is how many open requests of a tenant are looked at to find those that wait for somebody.
const mostOpen = 1000

// Requests lists requests of the actor's tenant, newest first; those that wait for the actor oldest first.
func (a *App) Requests(ctx context.Context, actor Actor, f RequestFilter) ([]Request, error) {
	if err := actor.may("Requests"); err != nil {
		return nil, err
	}
	if f.Limit <= 0 {
		f.Limit = 100
	}
	f.Limit = min(f.Limit, 1000)
	if f.Status != "" && !slices.Contains(RequestStatuses, f.Status) {
		return nil, &Error{Code: EInvalid, Field: "status", Message: fmt.Sprintf("There is no status %.40q.", string(f.Status)), Hint: "One of: waiting, offered, accepted, refused, denied, expired, withdrawn."}
	}
	switch f.View {
	case "", RequestsAll:
	case RequestsMine:
		f.Requester = actor.Name()
	case RequestsInbox:
		return a.inbox(ctx, actor, f.Limit)
	default:
		return nil, &Error{Code: EInvalid, Field: "view", Message: fmt.Sprintf("There is no list %.40q.", string(f.View)), Hint: "One of: mine, inbox, all."}
	}
	return a.Store.Requests(ctx, actor.Tenant, f)
}

func (a *App) inbox(ctx context.Context, actor Actor, limit int) ([]Request, error) {
	open, err := a.Store.OpenRequests(ctx, actor.Tenant, mostOpen)
	if err != nil {
		return nil, err
	}
	mine := []Request{}
	for _, r := range open {
		if len(mine) < limit && r.WaitsFor(actor) && (r.Status == RequestOffered || actor.May("Review")) {
			mine = append(mine, r)
		}
	}
	return mine, nil
}

// Request gives a request of the actor's tenant; ENotFound where there is none.
func (a *App) Request(ctx context.Context, actor Actor, id int64) (Request, error) {
	if err := actor.may("Request"); err != nil {
		return Request{}, err
	}
	return a.Store.Request(ctx, actor.Tenant, id)
}
