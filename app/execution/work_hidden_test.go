package execution

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/secret"
	"muster/app/template"
)

// hiddenStore is a cluster whose services have reported facts and whose people have answered manual steps.
type hiddenStore struct {
	FactStore
	ManualStepStore
	InputStore

	facts   []NodeFact
	answers []NodeAnswer
	reads   int
}

func (s *hiddenStore) FactList(context.Context, string, string, int) ([]NodeFact, error) {
	s.reads++
	return s.facts, nil
}

func (s *hiddenStore) FactsNamed(_ context.Context, _, _ string, names []app.FactName, nodes []string) (list []NodeFact, err error) {
	for _, f := range s.facts {
		if slices.Contains(names, app.FactName{Service: f.Service, Name: f.Name}) && slices.Contains(nodes, f.Node) {
			list = append(list, f)
		}
	}
	return list, nil
}

func (s *hiddenStore) Answers(context.Context, string, string, []string) ([]NodeAnswer, error) {
	return s.answers, nil
}

func (s *hiddenStore) SecretValues(_ context.Context, _ string, names []string, _ time.Time) (map[string]string, error) {
	all := map[string]string{}
	for _, n := range names {
		if n != "GONE" {
			all[n] = "value of " + n
		}
	}
	return all, nil
}

func TestWhatACommandMayNotShow(t *testing.T) {
	s := &hiddenStore{
		facts: []NodeFact{{Node: "n1", Service: "db", Name: "admin_token", Value: "token-1", Secret: true}, {Node: "n1",
			Service: "db", Name: "join", Value: "join-1"},
			{Node: "n1", Service: "db", Name: "host", Value: "host-1"}},
		answers: []NodeAnswer{{Node: "n1", Values: map[string]app.AnswerValue{"pin": {Text: "pin-4711", Secret: true}, "floor": {Text: "floor-3"}}}},
	}
	for i := range 20 { // so much that not all of it fits
		s.facts = append(s.facts, NodeFact{Node: fmt.Sprintf("n%d", i+2), Service: "db", Name: "admin_token",
			Value: fmt.Sprint(i+2, strings.Repeat("x", 50<<10)), Secret: true})
	}
	a := &Service{Config: Config{Inputs: s, Now: time.Now, Facts: NewFacts(FactsConfig{Store: s}), ManualSteps: NewManualSteps(ManualStepsConfig{Store: s})}}
	oc := &operationConfig{secrets: cluster.Secrets{PrivateKey: []byte("key")},
		nodes: template.MacroCluster{Nodes: []app.Node{{Name: "n1"}}}, definition: cluster.Definition{
			Config:   map[string]any{"db": map[string]any{"password": "typed-in", "name": "orders", "pin": "whole-1"}},
			Services: map[string]*template.Service{"db": {Actions: map[app.Action]*template.ServiceAction{"start": {Fields: map[string]string{"script": "login ${secret:REGISTRY} ${secret:GONE}"}}}}},
			Actions:  []template.SavedAction{{Name: "backup", Run: "copy ${secret:BUCKET}"}},
			Outputs: []template.Output{
				{Type: template.OutputSecret, Value: "db://app:${config:db.password|url}@%fact.db.host%/${config:db.name}?k=${secret:generated/db}"},
				{Type: template.OutputSecret, Value: "%fact.db.join%"}, {Type: template.OutputSecret,
					Value: "${config:db.pin}"}, {Type: template.OutputText, Value: "%fact.db.host%"},
			}}}
	c := &ClaimedStep{Tenant: "default", Cluster: app.Cluster{ID: "shop-1"}}
	hidden := func(node string) []string {
		t.Helper()
		all, err := a.hiddenOf(t.Context(), &Assignment{Node: app.Node{Name: node}}, c, oc)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := hidden("n21")
	for _, want := range []string{"token-1", "join-1", "pin-4711", "value of REGISTRY", "value of BUCKET", "typed-in", "whole-1", s.facts[22].Value,
		secret.GeneratedValues([]byte("key"), []string{"generated/db"})["generated/db"]} {
		if !slices.Contains(all, want) {
			t.Errorf("%.20q isn't hidden", want)
		}
	}
	for _, plain := range []string{"orders", "host-1", "floor-3"} {
		if slices.Contains(all, plain) {
			t.Errorf("%q is hidden", plain)
		}
	}
	if n := len(strings.Join(all, "")); n > mostHidden+100<<10 {
		t.Errorf("%d bytes are to be hidden", n)
	}
	if hidden("n3"); s.reads != 1 {
		t.Errorf("the cluster's secrets were read %d times for two steps of a command", s.reads)
	}
}
