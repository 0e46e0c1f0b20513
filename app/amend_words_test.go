package app_test

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
)

func TestAmendmentsAreSaidInWords(t *testing.T) {
	on := func(name string, services ...string) cluster.AmendedNode {
		return cluster.AmendedNode{Name: name, Services: services}
	}
	works := func(n cluster.AmendedNode, w plan.ServiceWork) cluster.AmendedNode {
		n.Work = map[string]plan.ServiceWork{}
		for _, s := range n.Services {
			n.Work[s] = w
		}
		return n
	}
	changed := func(n cluster.AmendedNode, c plan.NodeChange) cluster.AmendedNode { n.Change = c; return n }
	added := func(n cluster.AmendedNode, s string) cluster.AmendedNode {
		n.Services, n.Added = append(n.Services, s), []string{s}
		return n
	}
	figures := func(n int) cluster.ClusterFigures { return cluster.ClusterFigures{Nodes: n} }
	for name, c := range map[string]struct {
		p       cluster.AmendPreview
		title   string
		effects string
	}{
		"grow": {cluster.AmendPreview{Kind: app.OperationResize, Before: figures(2), After: figures(4), Nodes: []cluster.AmendedNode{
			works(on("n1", "lb"), plan.WorkReload), on("n2", "web"), changed(on("n3", "web"), plan.NodeNew), changed(on("n4", "web"), plan.NodeNew)}},
			"Grow from 2 to 4 nodes", "n3 and n4 are created. lb is reconfigured and reloaded on n1."},
		"shrink": {cluster.AmendPreview{Kind: app.OperationResize, Before: figures(2), After: figures(1), Nodes: []cluster.AmendedNode{
			on("n1", "web"), changed(on("n2", "web"), plan.NodeGone)}},
			"Shrink from 2 to 1 node", "n2 hands over its services and is deleted."},
		"add": {cluster.AmendPreview{Kind: app.OperationAddServices, Nodes: []cluster.AmendedNode{added(on("n1", "web"), "cache"), on("n2", "web")}},
			"Add cache", "cache is added to n1."},
		"remove": {cluster.AmendPreview{Kind: app.OperationRemoveServices, Nodes: []cluster.AmendedNode{{Name: "n1", Removed: []string{"cache"}}}},
			"Remove cache", "cache is removed from n1."},
		"restart some": {cluster.AmendPreview{Kind: app.OperationRestart, Nodes: []cluster.AmendedNode{
			{Name: "n1", Services: []string{"lb", "web"}, Work: map[string]plan.ServiceWork{"web": plan.WorkRestart}}}},
			"Restart web", "web is restarted on n1."},
		"stop all": {cluster.AmendPreview{Kind: app.OperationStop, Nodes: []cluster.AmendedNode{works(on("n1", "lb", "web"), plan.WorkStop)}},
			"Stop all services", "lb is stopped on n1. web is stopped on n1."},
		"repair": {cluster.AmendPreview{Kind: app.OperationRepair, Nodes: []cluster.AmendedNode{on("n1", "web"), changed(on("n2", "web"), plan.NodeReplaced)}},
			"Repair n2", "n2 is replaced and keeps its name and services."},
		"nothing": {cluster.AmendPreview{Kind: app.OperationUpgrade, Nothing: true, Nodes: []cluster.AmendedNode{on("n1", "web")}},
			"Upgrade to the current catalog", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.p.Title(); got != c.title {
				t.Errorf("the title is %q, not %q", got, c.title)
			}
			if got := strings.Join(c.p.Effects(), " "); got != c.effects {
				t.Errorf("the effects are\n%s, not\n%s", got, c.effects)
			}
		})
	}
}

func TestManyNodesAreNamedBriefly(t *testing.T) {
	for want, names := range map[string]string{
		"no nodes":                     "",
		"n7":                           "n7",
		"n1, n2, n3 and n9":            "n1 n2 n3 n9",
		"n3 to n7":                     "n3 n4 n5 n6 n7",
		"n1, n2, n4 and 2 other nodes": "n1 n2 n4 n8 n9",
	} {
		if got := cluster.NodesInWords(strings.Fields(names)); got != want {
			t.Errorf("%s is said as %q, not %q", names, got, want)
		}
	}
}

func TestEveryKindHasItsWords(t *testing.T) {
	for _, k := range append([]app.OperationKind{app.OperationCreate, app.OperationDelete, app.OperationRollBack}, app.Amendments...) {
		for _, w := range []string{k.Words(), k.Verb(), k.Doing()} {
			if w == "" || strings.Contains(w, "_") {
				t.Errorf("%s is said as %q", k, w)
			}
		}
		if !strings.Contains(k.Doing(), "ing") {
			t.Errorf("%s: %q is not something that is being done", k, k.Doing())
		}
	}
	if got := app.OperationKind("go_home").Words(); got != "go home" {
		t.Errorf("an unknown kind is said as %q", got)
	}
}
