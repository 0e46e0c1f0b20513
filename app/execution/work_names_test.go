package execution

import (
	"context"
	"fmt"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
)

// nodesOnly is a store that knows the nodes of one cluster, and counts how often they are read.
type nodesOnly struct {
	InputStore
	nodes []app.Node
	reads int
}

func (s *nodesOnly) Nodes(context.Context, string, string) ([]app.Node, error) {
	s.reads++
	return s.nodes, nil
}

// A names step writes all existing nodes, in their order, which is worked out once for all nodes. In clusters of more than NamesMost it
// writes those that the configuration names.
func TestNamesANodeKnows(t *testing.T) {
	store := &nodesOnly{}
	a := &Service{Config: Config{Inputs: store}}
	add := func(services []string, change func(n *app.Node)) {
		i := len(store.nodes) + 1
		n := app.Node{Name: app.NodeName(i), Hostname: fmt.Sprintf("web-7-n%d.example.org", i), Status: app.NodeReady, Services: services,
			Addresses: map[string]string{app.AddressAccess: fmt.Sprintf("203.0.%d.%d", i/250, i%250), app.AddressBind: fmt.Sprintf("10.0.%d.%d", i/250, i%250)}}
		if change != nil {
			change(&n)
		}
		store.nodes = append(store.nodes, n)
	}
	for i := range plan.NamesMost {
		var services []string
		if i < 2 {
			services = []string{"db"}
		}
		add(services, nil)
	}
	add(nil, func(n *app.Node) { n.Leaving = true })
	add(nil, func(n *app.Node) { n.LostAt = time.Unix(1, 0) })
	add(nil, func(n *app.Node) { n.Status = app.NodeDeleted })
	add(nil, func(n *app.Node) { n.Addresses = nil })
	oc := &operationConfig{definition: cluster.Definition{Config: map[string]any{"peers": "%host.service.db%"}}}
	hashes := map[string]bool{}
	for _, n := range store.nodes[:plan.NamesMost] {
		hosts, hash, err := oc.everyone(t.Context(), a, app.Cluster{}, n)
		if err != nil || len(hosts) != plan.NamesMost {
			t.Fatalf("%s knows %d, %v", n.Name, len(hosts), err)
		}
		hashes[hash] = true
		if h := hosts[41]; h.Address != "10.0.0.42" || fmt.Sprint(h.Names) != "[web-7-n42.example.org web-7-n42 n42]" {
			t.Fatalf("%+v", h)
		}
	}
	if len(hashes) != 1 || hashes[""] || store.reads != 1 {
		t.Errorf("%d lists for all nodes, read %d times", len(hashes), store.reads)
	}

	add(nil, nil)
	oc = &operationConfig{definition: oc.definition}
	for _, tt := range []struct {
		node, knows int
	}{{1, 2}, {2, 2}, {3, 3}, {500, 3}} {
		hosts, _, err := oc.everyone(t.Context(), a, app.Cluster{}, store.nodes[tt.node-1])
		if err != nil || len(hosts) != tt.knows {
			t.Errorf("n%d knows %+v, %v", tt.node, hosts, err)
		}
	}
}
