package image

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/layout"
)

// Store keeps images and rules.
type Store interface {
	// Images returns those of a tenant, the newest first, at most MaxImages.
	Images(ctx context.Context, tenant string) ([]Image, error)
	// AddImages adds those whose key the tenant doesn't have yet, with an audit row for each, and returns all of them as they are now. EConflict where there are
	// too many.
	AddImages(ctx context.Context, who app.Actor, list []Image, now time.Time) ([]Image, error)
	// DeleteImage has one deleted at its provider, with an audit row. ENotFound, or EConflict while it is built.
	DeleteImage(ctx context.Context, who app.Actor, id int64, now time.Time) error
	BakeRules(ctx context.Context, tenant string) ([]Rule, error)
	// SetBakeRule writes one, with an audit row, or takes it away where remove is set.
	SetBakeRule(ctx context.Context, who app.Actor, r Rule, remove bool) error
}

// Config is what a service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Finder   *Finder
	Catalogs *catalog.Service
	Creates  *cluster.Creates
}

// Service shows images, has them built and deleted, and keeps rules.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// Images lists the tenant's images and rules.
func (a *Service) Images(ctx context.Context, actor app.Actor) (v View, err error) {
	if err := actor.Authorize("Images"); err != nil {
		return v, err
	}
	if v.Images, err = a.Store.Images(ctx, actor.Tenant); err != nil {
		return v, err
	}
	v.Rules, err = a.Store.BakeRules(ctx, actor.Tenant)
	return v, err
}

// BakeImages has the images built that clusters of a template would start from, by its defaults. A size of 0 is the smallest.
func (a *Service) BakeImages(ctx context.Context, actor app.Actor, template string, size int) (b Built, err error) {
	if err := actor.Authorize("BakeImages"); err != nil {
		return b, err
	}
	c, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return b, err
	}
	t, err := c.TemplateFor(actor, template)
	if err != nil {
		return b, err
	}
	if t == nil {
		return b, app.Errorf(app.ENotFound, "Template %.60q doesn't exist.", template)
	}
	if size == 0 {
		size = t.Constraints.Size.Least()
	}
	d, p, err := a.Creates.Prepare(ctx, actor.Tenant, cluster.CreateRequest{Request: layout.Request{Template: template, Size: size}})
	if err != nil {
		return b, err
	}
	spec := c.Providers[p.Layout.Provider]
	if spec == nil || !a.Finder.Bakes(spec.Type) {
		return b, &app.Error{Code: app.EInvalid, Reason: "cannot_bake", Message: fmt.Sprintf("Provider %s can't make images of machines.", p.Layout.Provider),
			Hint: "See docs/baked-images.md for those that can."}
	}
	groups := a.Finder.groups(actor.Tenant, spec, d.Nodes, d.Definition, t.Hooks)
	list := a.Finder.recipes(actor.Tenant, template, spec.Name, groups, d.Definition)
	b.Left = left(groups)
	if len(list) == 0 {
		e := &app.Error{Code: app.EInvalid, Reason: "nothing_to_bake", Message: fmt.Sprintf("Nothing of template %s can be baked.", template)}
		if len(b.Left) > 0 {
			e.Message += " " + b.Left[0]
		} else {
			e.Hint = "Only the install actions of services are baked, and none of its services has one."
		}
		return b, e
	}
	for i := range list {
		list[i].CreatedBy, list[i].Keep = actor.Name(), KeepUnused
	}
	b.Images, err = a.Store.AddImages(ctx, actor, list, a.Now())
	return b, err
}

// DeleteImage has an image deleted. Clusters that started from it keep their machines.
func (a *Service) DeleteImage(ctx context.Context, actor app.Actor, id int64) error {
	if err := actor.Authorize("DeleteImage"); err != nil {
		return err
	}
	return a.Store.DeleteImage(ctx, actor, id, a.Now())
}

// SetBakeRule has images of a template built by themselves from now on.
func (a *Service) SetBakeRule(ctx context.Context, actor app.Actor, r Rule) (Rule, error) {
	if err := actor.Authorize("SetBakeRule"); err != nil {
		return r, err
	}
	if err := r.Check(); err != nil {
		return r, err
	}
	c, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return r, err
	}
	if c.Templates[r.Template] == nil {
		return r, app.Errorf(app.ENotFound, "Template %.60q doesn't exist.", r.Template)
	}
	r.Tenant, r.SetBy, r.SetAt = actor.Tenant, actor.Name(), a.Now()
	return r, a.Store.SetBakeRule(ctx, actor, r, false)
}

// DeleteBakeRule has no more images of a template built by themselves. Those that exist stay for as long as they are used.
func (a *Service) DeleteBakeRule(ctx context.Context, actor app.Actor, template string) error {
	if err := actor.Authorize("DeleteBakeRule"); err != nil {
		return err
	}
	return a.Store.SetBakeRule(ctx, actor, Rule{Tenant: actor.Tenant, Template: template, SetAt: a.Now()}, true)
}
