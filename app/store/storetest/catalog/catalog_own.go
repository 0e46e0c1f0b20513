package catalog

import (
	"errors"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/catalog"
	"muster/app/template"
)

// ownCatalog keeps what tenants lay over the catalog.
func (t *storeTest) ownCatalog() {
	s, ctx, now := t.Store, t.Ctx, time.Now().Truncate(time.Microsecond)
	ada := app.Actor{Tenant: "own-a", User: "ada", Role: app.RoleAdmin}
	bob := app.Actor{Tenant: "own-b", User: "bob", Role: app.RoleAdmin}
	web := template.CatalogKey{Kind: template.KindTemplate, Name: "web"}
	cloud := template.CatalogKey{Kind: template.KindProvider, Name: "own-cloud"}
	save := func(who app.Actor, reason string, c catalog.TenantCatalogSave) int64 {
		t.Helper()
		now = now.Add(time.Second)
		c.At = now
		revision, err := s.SaveTenantCatalog(ctx, who, c)
		var e *app.Error
		if got := errors.As(err, &e); got != (reason != "") || got && e.Reason != reason {
			t.Fatalf("%v, want the reason %q", err, reason)
		}
		return revision
	}
	texts := func(k template.CatalogKey, text string) []catalog.Revision {
		return []catalog.Revision{{CatalogKey: k, Text: text, Note: "why", Deleted: text == ""}}
	}
	one := save(ada, "", catalog.TenantCatalogSave{Entries: texts(web, "a"), AsOf: -1, Templates: []template.CatalogVersion{{Name: "web", Hash: "h1", Text: "{}", At: now, By: "ada"}}})
	theirs := save(bob, "", catalog.TenantCatalogSave{Entries: texts(web, "b"), AsOf: -1})
	two := save(ada, "", catalog.TenantCatalogSave{Entries: texts(web, "aa"), Revision: one, AsOf: one})
	if !(one < theirs && theirs < two) {
		t.Errorf("revisions %d, %d, %d do not grow", one, theirs, two)
	}
	save(ada, "catalog_moved", catalog.TenantCatalogSave{Entries: texts(cloud, "c"), Revision: one, AsOf: -1})
	save(ada, "catalog_changed", catalog.TenantCatalogSave{Entries: texts(web, "c"), Revision: two, AsOf: one})
	for tenant, want := range map[string]string{"own-a": "aa", "own-b": "b"} {
		list, revision, err := s.TenantCatalog(ctx, tenant)
		if err != nil || len(list) != 1 || list[0].Text != want || list[0].Trusted {
			t.Errorf("%s has %+v, %v", tenant, list, err)
		}
		if head, err := s.TenantCatalogRevision(ctx, tenant); err != nil || head != revision {
			t.Errorf("the head of %s is %d, its entries are of %d, %v", tenant, head, revision, err)
		}
	}
	if all, err := s.TenantCatalogRevision(ctx, ""); err != nil || all != two {
		t.Errorf("that of all is %d, %v, want %d", all, err, two)
	}
	history, err := s.TenantCatalogHistory(ctx, "own-a", web, 10)
	if err != nil || len(history) != 2 || history[0].Number != 2 || history[1].Text != "a" || history[1].By != "ada" || history[1].Note != "why" {
		t.Errorf("%+v, %v", history, err)
	}
	if _, err := s.TenantCatalogVersion(ctx, "own-b", web, 2); app.CodeOf(err) != app.ENotFound {
		t.Errorf("a version that is another tenant's: %v", err)
	}
	// Removed, and written again: versions continue.
	three := save(ada, "", catalog.TenantCatalogSave{Entries: texts(web, ""), Revision: two, AsOf: two})
	if list, _, err := s.TenantCatalog(ctx, "own-a"); err != nil || len(list) != 0 {
		t.Errorf("after the removal: %+v, %v", list, err)
	}
	save(ada, "catalog_changed", catalog.TenantCatalogSave{Entries: texts(web, "x"), Revision: three, AsOf: two})
	four := save(ada, "", catalog.TenantCatalogSave{Entries: append(texts(web, "d"), texts(cloud, "p")...), Revision: three, AsOf: -1})
	if v, err := s.TenantCatalogVersion(ctx, "own-a", web, 4); err != nil || v.Text != "d" {
		t.Errorf("%+v, %v", v, err)
	}
	if by, err := s.TenantProviders(ctx); err != nil || len(by["own-a"]) != 1 || by["own-a"][0].Text != "p" || len(by["own-b"]) != 0 {
		t.Errorf("own providers: %+v, %v", by, err)
	}
	// A provider at which something is stays what it is, and a cluster that was worked out by what it was is refused.
	n := apptest.NewCluster("own-a", "own-1", 1, now, apptest.Chain(1))
	n.Cluster.Provider = cloud.Name
	if _, err := s.CreateCluster(ctx, n); err == nil || app.AsError(err).Reason != "plan_changed" {
		t.Errorf("a cluster of a provider as it was: %v", err)
	}
	n.TenantCatalog = four
	if _, err := s.CreateCluster(ctx, n); err != nil {
		t.Fatal(err)
	}
	save(ada, "in_use", catalog.TenantCatalogSave{Entries: texts(cloud, ""), Revision: four, AsOf: -1, Accounts: []string{cloud.Name}})
	if use, err := s.CatalogUse(ctx, "own-a"); err != nil || use.Providers[cloud.Name] != 1 {
		t.Errorf("%+v, %v", use, err)
	}
	// Templates: those of the installation and the tenant's own, by time, and no one else's.
	if _, err := s.RecordCatalog(ctx, []template.CatalogVersion{{Kind: template.KindTemplate, Name: "web-own", Hash: "base", Text: "{}", At: now, By: "server"}}); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // the same once more is no other version
		if err := s.RecordTemplates(ctx, "own-a", []template.CatalogVersion{{Name: "web-own", Hash: "mine", Text: `{"a": 1}`, At: now.Add(time.Duration(i+1) * time.Second), By: "ada"}}); err != nil {
			t.Fatal(err)
		}
	}
	for tenant, want := range map[string][]string{"own-a": {"mine", "base"}, "own-b": {"base"}} {
		list, err := s.TemplateHistory(ctx, tenant, "web-own", true)
		if err != nil || len(list) != len(want) {
			t.Fatalf("%s: %+v, %v", tenant, list, err)
		}
		for i, v := range list {
			if v.Hash != want[i] || v.Number != len(want)-i || v.Text == "" {
				t.Errorf("%s: version %+v, want number %d of %s", tenant, v, len(want)-i, want[i])
			}
		}
	}
}
