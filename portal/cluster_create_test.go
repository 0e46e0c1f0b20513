package portal

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"muster/app"
)

// refusing answers every create with an error.
type refusing struct {
	*app.App
	err error
}

func (m refusing) Ask(context.Context, app.Actor, app.ClusterRequest) (app.Answer, error) {
	return app.Answer{}, m.err
}

// Whatever keeps a cluster from being created is what the page says, beside the plan of what was typed. That the plan has changed is said
// where it has.
func TestAConflictOfACreateIsNamed(t *testing.T) {
	const changed = "The plan is not the one that you saw"
	o := newOffice(t)
	o.app.Deps.Catalog().Templates["web"].Parameters = []app.Parameter{{Name: "nodes", Type: app.ParameterInteger, Default: 1, To: []string{"size"}}}
	o.rules(app.Policy{Name: "eyes", Order: 1, Enabled: true, When: `nodes > 5`, Effect: app.PolicyApprove, Reason: "Many.", Approval: &app.Approval{Count: 1, Role: app.RoleApprover}})
	ada := o.at("ada")
	catalog := visit(t, func(c *Config) {
		c.Now, c.Muster = o.clock.now, refusing{o.app, &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The provider cloud was changed in the catalog meanwhile."}}
	})
	catalog.signIn("ada")
	for _, name := range []string{"nodes=3&name=shop", "nodes=6&name=waits"} {
		if a := ada.post("/clusters", ada.get("/clusters/new?template=web&set-"+name).fields()); a.status != http.StatusSeeOther {
			t.Fatalf("the create of %s answers %d: %s", name, a.status, a.text())
		}
	}
	for _, c := range []struct {
		name  string
		at    *site
		shown string // with what the form was opened
		nodes string // and then sent
		says  []string
		plan  bool // the page says that it has changed
	}{
		{"the name is taken", ada, "nodes=3&name=shop", "3", []string{`There is already a cluster named "shop".`, "3 machines at cloud"}, false},
		{"a request has the name", ada, "nodes=6&name=waits", "6", []string{`for a cluster named "waits" is open already`, "6 machines at cloud"}, false},
		{"the catalog changed, and the plan is the same", catalog, "nodes=3&name=new", "3", []string{"The provider cloud was changed in the catalog meanwhile.", "3 machines at cloud"}, false},
		{"the plan changed", ada, "nodes=3&name=new", "4", []string{"4 machines at cloud"}, true},
		{"the plan changed, and the name is taken", ada, "nodes=3&name=shop", "4", []string{"4 machines at cloud"}, true},
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
