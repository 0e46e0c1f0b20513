package planner

import (
	"slices"
	"testing"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

// Volumes come before a node's services, and are off a machine before it's deleted.
func TestVolumesInPlans(t *testing.T) {
	services := map[string]*template.Service{
		"db": {Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: {}, app.ActionStop: {}}, Volumes: []template.Volume{{Name: "data",
			SizeGB: 1, Mount: "/srv/data"}}},
		"web": {Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: {}, app.ActionStop: {}}},
	}
	for name, c := range map[string]struct {
		kind  app.OperationKind
		node  plan.Node
		order []string
	}{
		"create": {app.OperationCreate, plan.Node{Services: []string{"db"}}, []string{"n1.create", "n1.confirm", "n1.attach", "n1.bootstrap",
			"n1.db.install"}},
		"create without": {app.OperationCreate, plan.Node{Services: []string{"web"}}, []string{"n1.create", "n1.confirm", "n1.bootstrap", "n1.web.install"}},
		"repair": {app.OperationRepair, plan.Node{Services: []string{"db"}, Change: plan.NodeReplaced}, []string{"n1.detach", "n1.delete",
			"n1.create", "n1.confirm", "n1.attach", "n1.bootstrap", "n1.db.install"}},
		"repair of a lost one": {app.OperationRepair, plan.Node{Services: []string{"db"}, Change: plan.NodeReplaced, Lost: true}, []string{"n1.delete",
			"n1.create", "n1.confirm", "n1.attach", "n1.bootstrap", "n1.db.install"}},
		"shrink":         {app.OperationResize, plan.Node{Services: []string{"db"}, Change: plan.NodeGone}, []string{"n1.db.stop", "n1.detach", "n1.delete"}},
		"shrink without": {app.OperationResize, plan.Node{Services: []string{"web"}, Change: plan.NodeGone}, []string{"n1.web.stop", "n1.delete"}},
		"wake":           {app.OperationWake, plan.Node{Services: []string{"db"}}, []string{"n1.wake", "n1.confirm", "n1.attach"}},
		"delete":         {app.OperationDelete, plan.Node{Services: []string{"db"}}, []string{"n1.delete"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.node.Name = "n1"
			p, err := New().Plan(plan.Request{Kind: c.kind, Nodes: []plan.Node{c.node}, Services: services})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, s := range p.Steps {
				if s.Join {
					continue
				}
				if len(got) > 0 && len(p.NeedsOf(i)) == 0 {
					t.Errorf("%s waits for nothing", s.ID)
				}
				got = append(got, s.ID)
			}
			if !slices.Equal(got, c.order) {
				t.Errorf("got %v, want %v", got, c.order)
			}
		})
	}
}
