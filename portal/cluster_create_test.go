package portal

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	appcatalog "muster/app/catalog"
	appcluster "muster/app/cluster"
	"muster/app/file/catalog"
	"muster/app/layout"
	apppolicy "muster/app/policy"
	"muster/app/template"
	"muster/cmd/muster/wiring/faces"
	"muster/portal/site"
	"muster/solver"
)

// refusing answers every create with an error.
type refusing struct {
	site.Creates
	err error
}

func (m refusing) SubmitRequest(context.Context, app.Actor, appcluster.CreateRequest) (appcluster.Answer, error) {
	return appcluster.Answer{}, m.err
}

// Whatever keeps a cluster from being created is what the page says, beside the plan of what was typed. That the plan has changed is said
// where it has.
func TestAConflictOfACreateIsNamed(t *testing.T) {
	const changed = "The form or the catalog has changed since your preview"
	o := newFullSite(t)
	o.catalog.Templates["web"].Parameters = []template.Parameter{{Name: "nodes", Type: template.ParameterInteger, Default: 1, To: []string{"size"}}}
	o.rules(apppolicy.Policy{Name: "eyes", Order: 1, Enabled: true, When: `nodes > 5`, Effect: apppolicy.EffectApprove, Reason: "Many.", Approval: &apppolicy.Approval{Count: 1, Role: app.RoleApprover}})
	ada := o.at("ada")
	catalog := visit(t, func(c *Config) {
		c.Now, c.UseCases = o.clock.now, faces.Portal(o.app)
		c.Creates = refusing{c.Creates, &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "Provider cloud has changed in the catalog since the preview."}}
	})
	catalog.signIn("ada")
	for _, name := range []string{"nodes=3&name=shop", "nodes=6&name=waits"} {
		if a := ada.post("/clusters", ada.get("/clusters/new?template=web&set-"+name).fields()); a.status != http.StatusSeeOther {
			t.Fatalf("creation of %s answers %d: %s", name, a.status, a.text())
		}
	}
	for _, c := range []struct {
		name  string
		at    *testSite
		shown string // with what the form was opened
		nodes string // and then sent
		says  []string
		plan  bool // the page says that it has changed
	}{
		{"the name is taken", ada, "nodes=3&name=shop", "3", []string{`Cluster "shop" already exists.`, "3 machines on cloud"}, false},
		{"a request has the name", ada, "nodes=6&name=waits", "6", []string{`for a cluster named "waits" is already open`, "6 machines on cloud"}, false},
		{"the catalog changed, and the plan is the same", catalog, "nodes=3&name=new", "3", []string{"Provider cloud has changed in the catalog since the preview.", "3 machines on cloud"}, false},
		{"the plan changed", ada, "nodes=3&name=new", "4", []string{"4 machines on cloud"}, true},
		{"the plan changed, and the name is taken", ada, "nodes=3&name=shop", "4", []string{"4 machines on cloud"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.at.get("/clusters/new?template=web&set-" + c.shown).fields()
			if in.Get("plan_hash") == "" {
				t.Fatal("the form shows no plan")
			}
			in.Set("set-nodes", c.nodes)
			a := c.at.post("/clusters", in)
			a.reads(http.StatusConflict, c.says...)
			if strings.Contains(a.text(), changed) != c.plan {
				t.Errorf("that the plan has changed is said or not: %s", a.text())
			}
			if out := a.fields(); out.Get("set-nodes") != c.nodes || out.Get("name") != in.Get("name") {
				t.Errorf("what was typed is lost: %v", out)
			}
		})
	}
}

// counted counts what a use case asks of the store and the solver.
type counted struct {
	appcatalog.TenantCatalogStore
	appcluster.ViewStore
	layout.Solver
	catalogs, revisions, solves, views atomic.Int64
}

func (c *counted) CatalogHead(ctx context.Context, tenant string) (int64, template.Exchange, error) {
	c.revisions.Add(1)
	return c.TenantCatalogStore.CatalogHead(ctx, tenant)
}

func (c *counted) View(ctx context.Context, tenant, cluster string) (appcluster.View, error) {
	c.views.Add(1)
	return c.ViewStore.View(ctx, tenant, cluster)
}

func (c *counted) Solve(ctx context.Context, in *template.Catalog, r layout.Request) (layout.Layout, error) {
	c.solves.Add(1)
	return c.Solver.Solve(ctx, in, r)
}

// take returns what was counted since the last time.
func (c *counted) take() string {
	return fmt.Sprintf("%d catalogs, %d revisions, %d solves, %d views", c.catalogs.Swap(0), c.revisions.Swap(0), c.solves.Swap(0), c.views.Swap(0))
}

// A create loads the catalog once, solves once, though a policy shortens its lease, and reads the cluster back only to show it.
func TestACreateDoesNothingTwice(t *testing.T) {
	o := newFullSite(t)
	o.rules(fullSiteRules...)
	c := &counted{TenantCatalogStore: o.store, ViewStore: o.store, Solver: solver.New()}
	o.app.Catalog.Reader = catalog.NewReader(catalog.Options{}, appcatalog.Families{})
	o.app.Catalog.Config.Catalog = func() *template.Catalog {
		c.catalogs.Add(1)
		return o.catalog
	}
	o.app.Catalog.Own, o.app.Cluster.Views.Store, o.app.Cluster.Creates.Solver = c, c, c
	ada := o.at("ada")
	ada.get("/clusters") // the tenant's currency is cached from here on
	day := 24 * time.Hour
	for _, one := range []struct {
		name  string
		size  int
		views string // that the API reads, which answers with the cluster
	}{
		{"Running as requested", 1, "1"},
		{"with a lease that a policy shortens", 3, "1"},
		{"that waits for approval", 4, "0"},
	} {
		t.Run(one.name, func(t *testing.T) {
			const once = "1 catalogs, 1 revisions, 1 solves, "
			in := ada.get(fmt.Sprintf("/clusters/new?template=web&lease=24h&size=%d&name=page%d", one.size, one.size)).fields()
			c.take()
			if a := ada.post("/clusters", in); a.status != http.StatusSeeOther {
				t.Fatalf("the page answers %d: %s", a.status, a.text())
			}
			if got := c.take(); got != once+"0 views" {
				t.Errorf("by the page: %s", got)
			}
			r := appcluster.CreateRequest{Name: fmt.Sprintf("api%d", one.size), Request: layout.Request{Template: "web", Size: one.size}, Lease: &day}
			if status, _ := o.api("ada", http.MethodPost, "/clusters", r, nil); status >= 300 {
				t.Fatalf("the API answers %d", status)
			}
			if got := c.take(); got != once+one.views+" views" {
				t.Errorf("by the API: %s", got)
			}
		})
	}
	c.take()
	if a := ada.post("/clusters/page1/clone", map[string][]string{"name": {"twin"}}); a.status != http.StatusSeeOther || a.header.Get("Location") == "" {
		t.Fatalf("a clone answers %d: %s", a.status, a.text())
	}
	if got := c.take(); got != "1 catalogs, 1 revisions, 1 solves, 0 views" {
		t.Errorf("by a clone: %s", got)
	}
}
