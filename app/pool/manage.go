package pool

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// lay lays what was asked for over a pool.
func (p *Pool) lay(r Request) {
	if r.Count != nil {
		p.Count = *r.Count
	}
	if r.MaxAge != nil {
		p.MaxAge = *r.MaxAge
	}
	if r.Mode != "" {
		p.Mode = r.Mode
	}
}

// NamePattern leaves room for what surrounds it in host names.
var NamePattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,29}$`)

// Pools lists the tenant's pools by name, without their machines.
func (a *Service) Pools(ctx context.Context, actor app.Actor) ([]View, error) {
	if err := actor.Authorize("Pools"); err != nil {
		return nil, err
	}
	return a.views(ctx, actor.Tenant)
}

func (a *Service) views(ctx context.Context, tenant string) ([]View, error) {
	currency, err := a.Catalogs.CurrencyOf(ctx, tenant)
	if err != nil {
		return nil, err
	}
	all, err := a.Store.PoolViews(ctx, tenant, a.Now().UTC().Truncate(24*time.Hour))
	for i := range all {
		all[i].Currency = currency
	}
	return all, err
}

// lastHanded is how many of the machines that were handed out a single view tells of.
const lastHanded = 20

// Pool returns one with its machines; ENotFound where there is none.
func (a *Service) Pool(ctx context.Context, actor app.Actor, name string) (View, error) {
	if err := actor.Authorize("Pool"); err != nil {
		return View{}, err
	}
	return a.pool(ctx, actor.Tenant, name)
}

func (a *Service) pool(ctx context.Context, tenant, name string) (v View, err error) {
	all, err := a.views(ctx, tenant)
	if err != nil {
		return v, err
	}
	for _, v := range all {
		if v.Name != name {
			continue
		}
		if v.Machines, err = a.Store.PoolMachines(ctx, v.ID, 0); err != nil {
			return v, err
		}
		v.Recent, err = a.Store.PoolMachines(ctx, v.ID, lastHanded)
		return v, err
	}
	return v, app.Errorf(app.ENotFound, "Pool %q doesn't exist.", name)
}

// CreatePool has machines made ahead of time. They are made one after the other from then on, and count towards the tenant's quota.
func (a *Service) CreatePool(ctx context.Context, actor app.Actor, r Request) (View, error) {
	if err := actor.Authorize("CreatePool"); err != nil {
		return View{}, err
	}
	p := Pool{Tenant: actor.Tenant, Name: strings.TrimSpace(r.Name), Hardware: r.Hardware, Image: r.Image, Provider: r.Provider, Zone: r.Zone, MaxAge: DefaultPoolAge,
		Mode: ModeOn, CreatedBy: actor.Name(), CreatedAt: a.Now()}
	if !NamePattern.MatchString(p.Name) {
		return View{}, &app.Error{Code: app.EInvalid, Field: "name", Message: "A pool name must start with a lowercase letter and have at most 30 lowercase letters, digits and '-'.",
			Hint: "For example: base-small."}
	}
	if r.Count == nil {
		return View{}, &app.Error{Code: app.EInvalid, Field: "count", Message: "The number of ready machines is required."}
	}
	p.lay(r)
	if err := a.CheckPool(ctx, p); err != nil {
		return View{}, err
	}
	if p.Mode != ModeOn && p.Mode != ModeOff {
		return View{}, &app.Error{Code: app.EInvalid, Field: "mode", Message: fmt.Sprintf("A new pool can be on or off, not %s.", p.Mode)}
	}
	d := cluster.Draft{Definition: cluster.Definition{}}
	if err := a.Preflight.CheckSecretsOf(ctx, actor.Tenant, cluster.CreateRequest{}, d, p.Provider); err != nil {
		return View{}, err
	}
	if _, err := a.Store.CreatePool(ctx, actor, p); err != nil {
		return View{}, err
	}
	return a.pool(ctx, actor.Tenant, p.Name)
}

// ChangePool changes count, age or mode. What a pool's machines are does not change: make another pool for that. One that was drained is
// filled again when it is switched on.
func (a *Service) ChangePool(ctx context.Context, actor app.Actor, r Request) (View, error) {
	if err := actor.Authorize("ChangePool"); err != nil {
		return View{}, err
	}
	if r.Hardware+r.Image+r.Provider+r.Zone != "" {
		return View{}, &app.Error{Code: app.EInvalid, Message: "The hardware, image, provider and zone of a pool can't be changed.", Hint: "Create another pool and delete this one."}
	}
	if r.Mode != "" && r.Mode != ModeOn && r.Mode != ModeOff {
		return View{}, &app.Error{Code: app.EInvalid, Field: "mode", Message: fmt.Sprintf("A pool can be on or off, not %.40q.", string(r.Mode)),
			Hint: "To delete its machines, drain or delete the pool."}
	}
	return a.changePool(ctx, actor, r, "pool.change")
}

func (a *Service) changePool(ctx context.Context, actor app.Actor, r Request, act string) (View, error) {
	p, err := a.Store.Pool(ctx, actor.Tenant, r.Name, false)
	if err != nil {
		return View{}, err
	}
	p.lay(r)
	if act == "pool.change" {
		// A pool whose hardware is not in the catalog any more can still be given back.
		if err := a.CheckPool(ctx, p); err != nil {
			return View{}, err
		}
	}
	if _, err := a.Store.ChangePool(ctx, actor, p, act, a.Now()); err != nil {
		return View{}, err
	}
	return a.pool(ctx, actor.Tenant, r.Name)
}

// DrainPool returns all machines of a pool and makes none, until it is switched on again.
func (a *Service) DrainPool(ctx context.Context, actor app.Actor, name string) (View, error) {
	if err := actor.Authorize("DrainPool"); err != nil {
		return View{}, err
	}
	return a.changePool(ctx, actor, Request{Name: name, Mode: ModeDrained}, "pool.drain")
}

// DeletePool returns all machines of a pool; when its provider has nothing of it any more, the pool is gone. Receipt tells of that. Once more
// changes nothing.
func (a *Service) DeletePool(ctx context.Context, actor app.Actor, name string) (Receipt, error) {
	if err := actor.Authorize("DeletePool"); err != nil {
		return Receipt{}, err
	}
	p, err := a.Store.Pool(ctx, actor.Tenant, name, false)
	if err != nil {
		return Receipt{}, err
	}
	if p.Mode != ModeDeleted {
		p.Mode = ModeDeleted
		if _, err := a.Store.ChangePool(ctx, actor, p, "pool.delete", a.Now()); err != nil {
			return Receipt{}, err
		}
	}
	return a.receipt(ctx, p)
}

// PoolReceipt returns what a pool has had and what that cost, also for a deleted pool.
func (a *Service) PoolReceipt(ctx context.Context, actor app.Actor, name string) (Receipt, error) {
	if err := actor.Authorize("PoolReceipt"); err != nil {
		return Receipt{}, err
	}
	p, err := a.Store.Pool(ctx, actor.Tenant, name, true)
	if err != nil {
		return Receipt{}, err
	}
	return a.receipt(ctx, p)
}

func (a *Service) receipt(ctx context.Context, p Pool) (Receipt, error) {
	r, err := a.Store.PoolReceipt(ctx, p.ID, a.Now())
	if err != nil {
		return r, err
	}
	r.Currency, err = a.Catalogs.CurrencyOf(ctx, p.Tenant)
	return r, err
}
