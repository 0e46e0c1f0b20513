package app

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// nodesOnly is a store that knows the nodes of one cluster, and counts how often they are read.
type nodesOnly struct {
	Store
	nodes []Node
	reads int
}

func (s *nodesOnly) Nodes(context.Context, string, string) ([]Node, error) {
	s.reads++
	return s.nodes, nil
}

// A names step writes all nodes that are there, in their order, which is worked out once for all nodes. In clusters of more than NamesMost it
// writes those that the configuration names.
func TestWhomANodeKnows(t *testing.T) {
	store := &nodesOnly{}
	a := New(Deps{Store: store})
	add := func(services []string, change func(n *Node)) {
		i := len(store.nodes) + 1
		n := Node{Name: NodeName(i), Hostname: fmt.Sprintf("web-7-n%d.example.org", i), Status: NodeReady, Services: services,
			Addresses: map[string]string{AddressAccess: fmt.Sprintf("203.0.%d.%d", i/250, i%250), AddressBind: fmt.Sprintf("10.0.%d.%d", i/250, i%250)}}
		if change != nil {
			change(&n)
		}
		store.nodes = append(store.nodes, n)
	}
	for i := range NamesMost {
		var services []string
		if i < 2 {
			services = []string{"db"}
		}
		add(services, nil)
	}
	add(nil, func(n *Node) { n.Leaving = true })
	add(nil, func(n *Node) { n.LostAt = time.Unix(1, 0) })
	add(nil, func(n *Node) { n.Status = NodeDeleted })
	add(nil, func(n *Node) { n.Addresses = nil })
	oc := &operationConfig{definition: Definition{Config: map[string]any{"peers": "%host.service.db%"}}}
	hashes := map[string]bool{}
	for _, n := range store.nodes[:NamesMost] {
		hosts, hash, err := oc.everyone(t.Context(), a, Cluster{}, n)
		if err != nil || len(hosts) != NamesMost {
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
		hosts, _, err := oc.everyone(t.Context(), a, Cluster{}, store.nodes[tt.node-1])
		if err != nil || len(hosts) != tt.knows {
			t.Errorf("n%d knows %+v, %v", tt.node, hosts, err)
		}
	}
}
