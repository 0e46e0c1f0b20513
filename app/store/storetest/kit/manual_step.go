package kit

import (
	"time"

	"muster/app"
	"muster/app/apptest"
	appplan "muster/app/plan"
	"muster/app/template"
)

// Asking is a plan that creates nodes, asks a person about each, and then starts a service that waited for the answer, and another
// one that did not.
func Asking(nodes int, p template.Person) appplan.Plan {
	plan := appplan.Plan{Kind: app.OperationCreate, ManualSteps: map[string]*template.Person{"a.configure": &p}}
	add := func(s appplan.Step) int {
		s.Rank = time.Duration(100-len(plan.Steps)) * time.Second
		plan.Steps = append(plan.Steps, s)
		return len(plan.Steps) - 1
	}
	for i := 1; i <= nodes; i++ {
		n := app.NodeName(i)
		created := add(appplan.Step{ID: n + ".create", Node: n, Action: app.ActionCreate})
		asked := add(appplan.Step{ID: n + ".a.configure", Node: n, Service: "a", Action: app.ActionConfigure, Asks: "a.configure", Needs: []int{created}})
		add(appplan.Step{ID: n + ".a.start", Node: n, Service: "a", Action: app.ActionStart, Needs: []int{asked}})
		add(appplan.Step{ID: n + ".b.start", Node: n, Service: "b", Action: app.ActionStart, Needs: []int{created}})
	}
	return plan
}

// AskPerson makes a cluster whose plan asks, and works until nothing but questions is left.
func (t *T) AskPerson(nodes int, p template.Person) app.Operation {
	t.Helper()
	op, err := t.Store.CreateCluster(t.Ctx, apptest.NewCluster(Tenant, "web", nodes, t.Clock.Now(), Asking(nodes, p)))
	t.Must(err)
	t.Drain()
	return op
}
