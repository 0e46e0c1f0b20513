package update

import (
	"reflect"
	"strings"

	"muster/app"
	"muster/app/store/storetest/kit"
)

// nodeWords says of each node its status, and what is special about it.
func (t *storeTest) nodeWords(cluster string) string {
	t.Helper()
	v, err := t.Store.View(t.Ctx, kit.Tenant, cluster)
	t.Must(err)
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, cluster)
	t.Must(err)
	if !reflect.DeepEqual(nodes, v.Nodes) {
		t.Errorf("the view has the nodes\n%+v, the list\n%+v", v.Nodes, nodes)
	}
	var all []string
	for _, n := range nodes {
		text := n.Name + " " + string(n.Status)
		if n.Leaving {
			text += " leaving"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func (t *storeTest) nodesAre(cluster, want string) {
	t.Helper()
	if got := t.nodeWords(cluster); got != want {
		t.Fatalf("the nodes are %s\nwant          %s", got, want)
	}
}

// is makes a cluster "web-1" of so many nodes that is active.
func (t *storeTest) stands(nodes int) {
	t.Helper()
	t.Create("web", nodes)
	t.CarryOut("")
	t.Status("web-1", app.ClusterActive, app.OperationSucceeded)
}
