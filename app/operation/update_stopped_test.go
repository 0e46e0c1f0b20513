package operation_test

import (
	"fmt"
	"testing"

	"muster/app"
	"muster/app/cluster"
)

// What someone has stopped stays so, until someone starts it.
func TestStoppedServicesStayStopped(t *testing.T) {
	f := newWithWorker(t)
	v := f.Shop(4, nil)
	stopped := func(want string) {
		t.Helper()
		d, err := f.Store.Definition(t.Context(), app.DefaultTenant, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		f.Want("stopped", fmt.Sprint(d.Stopped), want)
	}
	f.Carried(cluster.Update{Kind: app.OperationStop, Services: []string{"web"}, Nodes: []string{"n3"}})
	stopped("map[n3:[web]]")
	f.Want("people see it", fmt.Sprint(f.See(v.ID).Nodes[2].Stopped), "[web]")
	p, _ := f.Carried(cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"port": 8081}})
	for _, n := range p.Nodes {
		if n.Name == "n3" {
			f.Want("web, which is stopped, is only configured", fmt.Sprint(n.Work), "map[web:configure]")
		}
	}
	stopped("map[n3:[web]]")
	f.Carried(cluster.Update{Kind: app.OperationResize, Size: 5})
	stopped("map[n3:[web]]")
	f.Carried(cluster.Update{Kind: app.OperationRepair, Nodes: []string{"n3"}})
	stopped("map[]") // it was made again
	f.Carried(cluster.Update{Kind: app.OperationStop})
	stopped("map[n1:[db] n2:[lb] n3:[web] n4:[web] n5:[web]]")
	f.Carried(cluster.Update{Kind: app.OperationStart, Services: []string{"web"}})
	stopped("map[n2:[lb]]")
	f.Carried(cluster.Update{Kind: app.OperationRestart})
	stopped("map[]")
}
