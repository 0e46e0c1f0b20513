package operation

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/cluster"
)

// mostOpen is how many open requests of a tenant are looked at to find those that wait for someone.
const mostOpen = 1000

// openAtOnce is how many of them at a time.
const openAtOnce = 200

// Requests lists requests of the actor's tenant that it may see, newest first; those that wait for the actor oldest first.
func (a *Requests) Requests(ctx context.Context, actor app.Actor, f cluster.RequestFilter) ([]cluster.Request, error) {
	if err := actor.Authorize("Requests"); err != nil {
		return nil, err
	}
	if f.Limit <= 0 {
		f.Limit = 100
	}
	f.Limit = min(f.Limit, 1000)
	if f.Status != "" && !slices.Contains(cluster.RequestStatuses, f.Status) {
		return nil, &app.Error{Code: app.EInvalid, Field: "status", Message: fmt.Sprintf("Unknown status %.40q.", string(f.Status)),
			Hint: "Use waiting, offered, scheduled, accepted, refused, denied, expired or withdrawn."}
	}
	switch f.View {
	case "", cluster.RequestsAll:
	case cluster.RequestsMine:
		f.Requester = actor.Name()
	case cluster.RequestsInbox:
		return a.inbox(ctx, actor, f.Limit, f.Bare)
	default:
		return nil, &app.Error{Code: app.EInvalid, Field: "view", Message: fmt.Sprintf("Unknown list %.40q.", string(f.View)), Hint: "Use mine, inbox or all."}
	}
	reader, err := a.Clusters.ReaderOf(ctx, actor)
	if err != nil {
		return nil, err
	}
	f.Reader = reader
	list, err := a.Store.Requests(ctx, actor.Tenant, f)
	if err != nil {
		return nil, err
	}
	return list, a.Masks.MaskRequests(ctx, actor, list)
}

func (a *Requests) inbox(ctx context.Context, actor app.Actor, limit int, bare bool) ([]cluster.Request, error) {
	mine, after := []cluster.Request{}, int64(0)
	for looked := 0; looked < mostOpen && len(mine) < limit; looked += openAtOnce {
		open, err := a.Store.OpenRequestsBare(ctx, actor.Tenant, after, openAtOnce)
		if err != nil {
			return nil, err
		}
		for _, r := range open {
			if after = r.ID; len(mine) < limit && r.WaitsFor(actor) && (r.Status == cluster.RequestOffered || actor.May("Review")) {
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

// Request returns a request of the actor's tenant; ENotFound where there is none.
func (a *Requests) Request(ctx context.Context, actor app.Actor, id int64) (cluster.Request, error) {
	if err := actor.Authorize("Request"); err != nil {
		return cluster.Request{}, err
	}
	r, err := a.request(ctx, actor, id)
	if err != nil {
		return cluster.Request{}, err
	}
	list := []cluster.Request{r}
	err = a.Masks.MaskRequests(ctx, actor, list)
	return list[0], err
}

// request returns a request that the actor may see, with all that it says.
func (a *Requests) request(ctx context.Context, actor app.Actor, id int64) (cluster.Request, error) {
	reader, err := a.Clusters.ReaderOf(ctx, actor)
	if err != nil {
		return cluster.Request{}, err
	}
	return a.Store.ReadableRequest(ctx, *reader, id)
}
