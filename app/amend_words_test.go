package app_test

import (
	"strings"
	"testing"

	"muster/app"
)

func TestAmendmentsAreSaidInWords(t *testing.T) {
	on := func(name string, services ...string) app.AmendedNode {
		return app.AmendedNode{Name: name, Services: services}
	}
	works := func(n app.AmendedNode, w app.ServiceWork) app.AmendedNode {
		n.Work = map[string]app.ServiceWork{}
		for _, s := range n.Services {
			n.Work[s] = w
		}
		return n
	}
	changed := func(n app.AmendedNode, c app.NodeChange) app.AmendedNode { n.Change = c; return n }
	added := func(n app.AmendedNode, s string) app.AmendedNode {
		n.Services, n.Added = append(n.Services, s), []string{s}
		return n
	}
	figures := func(n int) app.ClusterFigures { return app.ClusterFigures{Nodes: n} }
	for name, c := range map[string]struct {
		p       app.AmendPreview
		title   string
		effects string
	}{
		"grow": {app.AmendPreview{Kind: app.OperationResize, Before: figures(2), After: figures(4), Nodes: []app.AmendedNode{
			works(on("n1", "lb"), app.WorkReload), on("n2", "web"), changed(on("n3", "web"), app.NodeNew), changed(on("n4", "web"), app.NodeNew)}},
			"Grow from 2 to 4 nodes", "n3 and n4 are made. lb is configured anew and reloaded on n1."},
		"shrink": {app.AmendPreview{Kind: app.OperationResize, Before: figures(2), After: figures(1), Nodes: []app.AmendedNode{
			on("n1", "web"), changed(on("n2", "web"), app.NodeGone)}},
			"Shrink from 2 to 1 node", "n2 hands over what runs on it, and is given back."},
		"add": {app.AmendPreview{Kind: app.OperationAddServices, Nodes: []app.AmendedNode{added(on("n1", "web"), "cache"), on("n2", "web")}},
			"Add cache", "cache comes to n1."},
		"remove": {app.AmendPreview{Kind: app.OperationRemoveServices, Nodes: []app.AmendedNode{{Name: "n1", Removed: []string{"cache"}}}},
			"Remove cache", "cache goes from n1."},
		"restart some": {app.AmendPreview{Kind: app.OperationRestart, Nodes: []app.AmendedNode{
			{Name: "n1", Services: []string{"lb", "web"}, Work: map[string]app.ServiceWork{"web": app.WorkRestart}}}},
			"Restart web", "web is restarted on n1."},
		"stop all": {app.AmendPreview{Kind: app.OperationStop, Nodes: []app.AmendedNode{works(on("n1", "lb", "web"), app.WorkStop)}},
			"Stop all services", "lb is stopped on n1. web is stopped on n1."},
		"repair": {app.AmendPreview{Kind: app.OperationRepair, Nodes: []app.AmendedNode{on("n1", "web"), changed(on("n2", "web"), app.NodeReplaced)}},
			"Repair n2", "n2 is replaced and keeps its name and services."},
		"nothing": {app.AmendPreview{Kind: app.OperationUpgrade, Nothing: true, Nodes: []app.AmendedNode{on("n1", "web")}},
			"Upgrade to what the catalog has now", ""},
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
		"no node":                      "",
		"n7":                           "n7",
		"n1, n2, n3 and n9":            "n1 n2 n3 n9",
		"n3 to n7":                     "n3 n4 n5 n6 n7",
		"n1, n2, n4 and 2 other nodes": "n1 n2 n4 n8 n9",
	} {
		if got := app.NodesInWords(strings.Fields(names)); got != want {
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
