package app_test

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
)

func TestUpdatesAreSaidInWords(t *testing.T) {
	on := func(name string, services ...string) cluster.UpdatedNode {
		return cluster.UpdatedNode{Name: name, Services: services}
	}
	works := func(n cluster.UpdatedNode, w plan.ServiceWork) cluster.UpdatedNode {
		n.Work = map[string]plan.ServiceWork{}
		for _, s := range n.Services {
			n.Work[s] = w
		}
		return n
	}
	changed := func(n cluster.UpdatedNode, c plan.NodeChange) cluster.UpdatedNode { n.Change = c; return n }
	added := func(n cluster.UpdatedNode, s string) cluster.UpdatedNode {
		n.Services, n.Added = append(n.Services, s), []string{s}
		return n
	}
	figures := func(n int) cluster.Figures { return cluster.Figures{Nodes: n} }
	for name, c := range map[string]struct {
		p       cluster.UpdatePreview
		title   string
		effects string
	}{
		"grow": {cluster.UpdatePreview{Kind: app.OperationResize, Before: figures(2), After: figures(4), Nodes: []cluster.UpdatedNode{
			works(on("n1", "lb"), plan.WorkReload), on("n2", "web"), changed(on("n3", "web"), plan.NodeNew), changed(on("n4", "web"), plan.NodeNew)}},
			"Grow from 2 to 4 nodes", "n3 and n4 are created. lb is reconfigured and reloaded on n1."},
		"shrink": {cluster.UpdatePreview{Kind: app.OperationResize, Before: figures(2), After: figures(1), Nodes: []cluster.UpdatedNode{
			on("n1", "web"), changed(on("n2", "web"), plan.NodeGone)}},
			"Shrink from 2 to 1 node", "n2 hands over its services and is deleted."},
		"add": {cluster.UpdatePreview{Kind: app.OperationAddServices, Nodes: []cluster.UpdatedNode{added(on("n1", "web"), "cache"), on("n2", "web")}},
			"Add cache", "cache is added to n1."},
		"remove": {cluster.UpdatePreview{Kind: app.OperationRemoveServices, Nodes: []cluster.UpdatedNode{{Name: "n1", Removed: []string{"cache"}}}},
			"Remove cache", "cache is removed from n1."},
		"restart some": {cluster.UpdatePreview{Kind: app.OperationRestart, Nodes: []cluster.UpdatedNode{
			{Name: "n1", Services: []string{"lb", "web"}, Work: map[string]plan.ServiceWork{"web": plan.WorkRestart}}}},
			"Restart web", "web is restarted on n1."},
		"stop all": {cluster.UpdatePreview{Kind: app.OperationStop, Nodes: []cluster.UpdatedNode{works(on("n1", "lb", "web"), plan.WorkStop)}},
			"Stop all services", "lb is stopped on n1. web is stopped on n1."},
		"repair": {cluster.UpdatePreview{Kind: app.OperationRepair, Nodes: []cluster.UpdatedNode{on("n1", "web"), changed(on("n2", "web"), plan.NodeReplaced)}},
			"Repair n2", "n2 is replaced and keeps its name and services."},
		"nothing": {cluster.UpdatePreview{Kind: app.OperationUpgrade, NoChanges: true, Nodes: []cluster.UpdatedNode{on("n1", "web")}},
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

func TestEveryKindHasText(t *testing.T) {
	for _, k := range append([]app.OperationKind{app.OperationCreate, app.OperationDelete, app.OperationRollBack}, app.Updates...) {
		for _, w := range []string{k.Text(), k.Verb(), k.Doing()} {
			if w == "" || strings.Contains(w, "_") {
				t.Errorf("%s is said as %q", k, w)
			}
		}
		if !strings.Contains(k.Doing(), "ing") {
			t.Errorf("%s: %q is not something that is being done", k, k.Doing())
		}
	}
	if got := app.OperationKind("go_home").Text(); got != "go home" {
		t.Errorf("an unknown kind is said as %q", got)
	}
}
