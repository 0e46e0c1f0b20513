package cluster

import (
	"fmt"
	"strings"
	"testing"

	"muster/app"
	"muster/app/template"
)

func TestDifferencesOfTwoMoments(t *testing.T) {
	node := func(name, hardware string, services ...string) app.Node {
		return app.Node{Name: name, Hardware: hardware, Image: "debian", Services: services}
	}
	moment := func(change func(*Moment)) Moment {
		m := Moment{Cluster: "web-1", Name: "web", template: "web", provider: "cloud", services: []string{"db", "nginx"}, size: 2,
			nodes: []app.Node{node("n1", "small", "nginx"), node("n2", "small", "db")},
			definition: Definition{Config: map[string]any{"port": 80.0, "db": map[string]any{"password": "one"}}, Hardware: map[string]template.Flavor{"small": {Flavor: "s-1", CostPerHour: 0.5}},
				Services: map[string]*template.Service{"db": {}, "nginx": {}}}}
		if change != nil {
			change(&m)
		}
		return m
	}
	for _, c := range []struct {
		name   string
		change func(*Moment)
		want   string
	}{
		{"the same", nil, ""},
		{"template and provider", func(m *Moment) { m.template, m.provider = "web2", "other" }, "provider cloud>other|template web>web2"},
		{"one more node", func(m *Moment) { m.size, m.nodes = 3, append(m.nodes, node("n3", "small", "nginx")) },
			"nodes 1 × small debian (nginx); 1 × small debian (db)>2 × small debian (nginx); 1 × small debian (db)|size 2>3"},
		{"a value", func(m *Moment) {
			m.definition.Config = map[string]any{"port": 81.0, "db": map[string]any{"password": "one"}}
		}, "config.port 80>81"},
		{"a password", func(m *Moment) {
			m.definition.Config = map[string]any{"port": 80.0, "db": map[string]any{"password": "two"}}
		},
			"config.db.password •••>•••"},
		{"a price", func(m *Moment) {
			m.definition.Hardware = map[string]template.Flavor{"small": {Flavor: "s-1", CostPerHour: 1}}
		},
			"hardware.small s-1, 0.50 per hour>s-1, 1 per hour"},
		{"a service", func(m *Moment) { m.definition.Services = map[string]*template.Service{"nginx": {}} }, "services.db there>"},
		{"how an operation left it", func(m *Moment) { m.Operation, m.nodes = 7, nil }, ""},
		{"how an operation left it, larger", func(m *Moment) { m.Operation, m.nodes, m.size, m.services = 7, nil, 3, []string{"db"} }, "services db, nginx>db|size 2>3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := diffMoments(moment(nil), moment(c.change))
			var got []string
			for _, x := range d.Changes {
				got = append(got, fmt.Sprintf("%s %s>%s", x.Path, x.Before, x.After))
			}
			if text := strings.Join(got, "|"); text != c.want {
				t.Errorf("they differ in %s, want %s", text, c.want)
			}
			if (d.B.Operation != 0) != (len(d.Notes) > 0) {
				t.Errorf("notes %q", d.Notes)
			}
		})
	}
}
