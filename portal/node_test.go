package portal

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/node"
)

// nodes are a tenant's, for the page of nodes.
type nodes struct{ list []node.Listed }

func (n nodes) Nodes(_ context.Context, _ app.Actor, f node.Filter) (p node.Page, err error) {
	if err := f.Check(); err != nil {
		return p, err
	}
	start := 0
	for i, x := range n.list {
		if f.After == x.Cluster+"/"+x.Name {
			start = i + 1
		}
	}
	for _, x := range n.list[start:] {
		if (f.Owner == "" || x.Owner == f.Owner) && (f.State == "" || x.State == f.State) && strings.Contains(x.Hostname, f.Text) {
			p.Nodes = append(p.Nodes, x)
		}
	}
	if f.Limit > 0 && len(p.Nodes) > f.Limit {
		p.Nodes = p.Nodes[:f.Limit]
		last := p.Nodes[f.Limit-1]
		p.Next = last.Cluster + "/" + last.Name
	}
	return p, nil
}

func TestNodesOfAllClusters(t *testing.T) {
	all := nodes{}
	for i := range 130 {
		one := node.Listed{Cluster: "web-1", ClusterName: "web", Name: app.NodeName(i + 1), Hostname: fmt.Sprintf("web-1-n%d.local", i+1), State: node.StateReady,
			Owner: "ada", Template: "web", Provider: "sandbox", Hardware: "small", Image: "debian", Services: []string{"nginx"},
			Addresses: map[string]string{app.AddressAccess: fmt.Sprintf("10.0.0.%d", i+1)}}
		if i == 0 {
			one.Owner, one.State, one.LostAt = "root", node.StateLost, time.Unix(1, 0)
		}
		all.list = append(all.list, one)
	}
	s := visit(t, func(c *Config) { c.UseCases = useCases(fakeOf(c), all) })
	s.signIn("ada")

	a := s.get("/nodes")
	a.reads(http.StatusOK, "Nodes", "n1 web-1-n1.local web lost 10.0.0.1 nginx small sandbox root", "n100", "Next page")
	a.lacks("n101 ")
	s.get("/nodes?after=web-1/n100").reads(http.StatusOK, "n101 web-1-n101.local", "First page")
	a = s.get("/nodes?owner=me&state=ready&q=n7.")
	a.reads(http.StatusOK, "n7 web-1-n7.local web ready", "Clear filters")
	a.lacks("n8 ")
	s.get("/nodes?state=lost&owner=me").reads(http.StatusOK, "No matching nodes.")
	s.get("/nodes?state=asleep").reads(http.StatusUnprocessableEntity, "Unknown node state", "Use planned, created, ready or lost.", "n1 web-1-n1.local")
}
