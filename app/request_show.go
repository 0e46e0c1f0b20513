package app

import (
	"context"
	"fmt"
	"slices"
)

// mostOpen is how many open requests of a tenant are looked at to find those that wait for somebody.
const mostOpen = 1000

// openAtOnce is how many of them at a time.
const openAtOnce = 200

// Requests lists requests of the actor's tenant that it may see, newest first; those that wait for the actor oldest first.
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
		return a.inbox(ctx, actor, f.Limit, f.Bare)
	default:
		return nil, &Error{Code: EInvalid, Field: "view", Message: fmt.Sprintf("There is no list %.40q.", string(f.View)), Hint: "One of: mine, inbox, all."}
	}
	reader, err := a.reader(ctx, actor)
	if err != nil {
		return nil, err
	}
	f.Reader = reader
	return a.Store.Requests(ctx, actor.Tenant, f)
}

func (a *App) inbox(ctx context.Context, actor Actor, limit int, bare bool) ([]Request, error) {
	mine, after := []Request{}, int64(0)
	for looked := 0; looked < mostOpen && len(mine) < limit; looked += openAtOnce {
		open, err := a.Store.OpenRequestsBare(ctx, actor.Tenant, after, openAtOnce)
		if err != nil {
			return nil, err
		}
		for _, r := range open {
			if after = r.ID; len(mine) < limit && r.WaitsFor(actor) && (r.Status == RequestOffered || actor.May("Review")) {
				mine = append(mine, r)
			}
		}
		if len(open) < openAtOnce {
			break
		}
	}
	if bare || len(mine) == 0 {
		return mine, nil
	}
	ids := make([]int64, len(mine))
	for i, r := range mine {
		ids[i] = r.ID
	}
	return a.Store.RequestsNumbered(ctx, actor.Tenant, ids)
}

// Request gives a request of the actor's tenant; ENotFound where there is none.
func (a *App) Request(ctx context.Context, actor Actor, id int64) (Request, error) {
	if err := actor.may("Request"); err != nil {
		return Request{}, err
	}
	return a.request(ctx, actor, id)
}

// request returns a request that the actor may see.
func (a *App) request(ctx context.Context, actor Actor, id int64) (Request, error) {
	reader, err := a.reader(ctx, actor)
	if err != nil {
		return Request{}, err
	}
	return a.Store.ReadableRequest(ctx, *reader, id)
}
