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
	_, err := s.server.App.ApplyCatalog(s.t.Context(), s.boss(), ownTemplate(name))
	s.must(err)
	return template.CatalogKey{Kind: template.KindTemplate, Name: name}
}

func ownTemplate(name string) catalog.CatalogChange {
	return yamlOf("kind: template\nname: " + name + "\nextends: web\n")
}

// The tenant's own catalog, in the matrix.
var catalogTries = map[string]func(ctx context.Context, a *all.App, s *scene) error{
	"CatalogItems": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.CatalogItems(ctx, s.actor, "", "")
		return err
	},
	"CatalogSource": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.CatalogSource(ctx, s.actor, s.entry())
		return err
	},
	"CatalogHistory": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.CatalogHistory(ctx, s.actor, template.CatalogKey{Kind: template.KindTemplate, Name: "web"})
		return err
	},
	"CatalogFamilies": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.CatalogFamilies(ctx, s.actor)
		return err
	},
	"ExportCatalog": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.ExportCatalog(ctx, s.actor, true)
		return err
	},
	"CheckProvider": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.CheckProvider(ctx, s.actor, "sandbox")
		return err
	},
	"ProviderOffers": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.ProviderOffers(ctx, s.actor, "sandbox")
		if app.AsError(err) != nil && err != nil && app.AsError(err).Reason == "no_offers" {
			return nil
		}
		return err
	},
	"CheckCatalog": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.CheckCatalog(ctx, s.actor, ownTemplate("checked"))
		return err
	},
	"TryCatalog": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.TryCatalog(ctx, s.actor, ownTemplate("tried"), cluster.ClusterRequest{LayoutRequest: layout.LayoutRequest{Template: "tried", Size: 3}})
		return err
	},
	"ExplainCatalog": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.ExplainCatalog(ctx, s.actor, ownTemplate("tried"), cluster.ClusterRequest{LayoutRequest: layout.LayoutRequest{Template: "tried", Size: 3}})
		return err
	},
	"ApplyCatalog": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.ApplyCatalog(ctx, s.actor, ownTemplate(s.fresh("applied")))
		return err
	},
	"RevertCatalog": func(ctx context.Context, a *all.App, s *scene) error {
		_, err := a.RevertCatalog(ctx, s.actor, s.entry(), 1, "")
		return err
	},
}
