package main

import (
	"context"

	"muster/app"
	"muster/app/all"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/template"
)

// entry makes a template of the scene's tenant's own.
func (s *scene) entry() template.CatalogKey {
	s.used = true
	name := s.fresh("own")
	_, err := s.server.Services.Catalog.ApplyCatalog(s.t.Context(), s.boss(), ownTemplate(name))
	s.must(err)
	return template.CatalogKey{Kind: template.KindTemplate, Name: name}
}

func ownTemplate(name string) catalog.Change {
	return yamlOf("kind: template\nname: " + name + "\nextends: web\n")
}

// The tenant's own catalog, in the matrix.
var catalogTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"CatalogItems": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.CatalogItems(ctx, s.actor, "", "")
		return err
	},
	"CatalogSource": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.CatalogSource(ctx, s.actor, s.entry())
		return err
	},
	"CatalogHistory": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.CatalogHistory(ctx, s.actor, template.CatalogKey{Kind: template.KindTemplate, Name: "web"})
		return err
	},
	"CatalogFamilies": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.CatalogFamilies(ctx, s.actor)
		return err
	},
	"ExportCatalog": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.ExportCatalog(ctx, s.actor, true)
		return err
	},
	"CheckProvider": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Installation.CheckProvider(ctx, s.actor, "sandbox")
		return err
	},
	"ProviderOffers": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Fleet.Installation.ProviderOffers(ctx, s.actor, "sandbox")
		if app.AsError(err) != nil && err != nil && app.AsError(err).Reason == "no_offers" {
			return nil
		}
		return err
	},
	"CheckCatalog": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.CheckCatalog(ctx, s.actor, ownTemplate("checked"))
		return err
	},
	"TryCatalog": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Trials.TryCatalog(ctx, s.actor, ownTemplate("tried"), cluster.CreateRequest{Request: layout.Request{Template: "tried", Size: 3}})
		return err
	},
	"ExplainCatalog": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Cluster.Trials.ExplainCatalog(ctx, s.actor, ownTemplate("tried"), cluster.CreateRequest{Request: layout.Request{Template: "tried", Size: 3}})
		return err
	},
	"ApplyCatalog": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.ApplyCatalog(ctx, s.actor, ownTemplate(s.fresh("applied")))
		return err
	},
	"RevertCatalog": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Catalog.RevertCatalog(ctx, s.actor, s.entry(), 1, "")
		return err
	},
}
