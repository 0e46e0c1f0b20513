package app_test

import (
	"fmt"
	"testing"

	"muster/app"
)

// What somebody has stopped stays so, until somebody starts it.
func TestStoppedServicesStaySo(t *testing.T) {
	f := newFarm(t)
	v := f.shop(4, nil)
	stopped := func(want string) {
		t.Helper()
		d, err := f.store.Definition(t.Context(), app.DefaultTenant, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		f.want("stopped", fmt.Sprint(d.Stopped), want)
	}
	f.carried(app.Amendment{Kind: app.OperationStop, Services: []string{"web"}, Nodes: []string{"n3"}})
	stopped("map[n3:[web]]")
	f.want("people see it", fmt.Sprint(f.see(v.ID).Nodes[2].Stopped), "[web]")
	p, _ := f.carried(app.Amendment{Kind: app.OperationReconfigure, Config: map[string]any{"port": 8081}})
	for _, n := range p.Nodes {
		if n.Name == "n3" {
			f.want("web, which is stopped, is only configured", fmt.Sprint(n.Work), "map[web:configure]")
		}
	}
	stopped("map[n3:[web]]")
	f.carried(app.Amendment{Kind: app.OperationResize, Size: 5})
	stopped("map[n3:[web]]")
	f.carried(app.Amendment{Kind: app.OperationRepair, Nodes: []string{"n3"}})
	stopped("map[]") // it was made anew
	f.carried(app.Amendment{Kind: app.OperationStop})
	stopped("map[n1:[db] n2:[lb] n3:[web] n4:[web] n5:[web]]")
	f.carried(app.Amendment{Kind: app.OperationStart, Services: []string{"web"}})
	stopped("map[n2:[lb]]")
	f.carried(app.Amendment{Kind: app.OperationRestart})
	stopped("map[]")
}
