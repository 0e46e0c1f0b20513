package operation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/template"
)

// reached is a cluster of n1 (db), n2 and n3 (web), n4 (lb) before an update; all can be configured.
func reached(was, is map[string]any) *updateBuilder {
	configurable := func(reads ...string) *template.Service {
		return &template.Service{Reads: reads, Actions: map[app.Action]*template.ServiceAction{app.ActionConfigure: {}, app.ActionStart: {}}}
	}
	d := &updateBuilder{standing: &standing{was: cluster.Definition{Config: was, Services: map[string]*template.Service{
		"db": configurable("db"), "web": configurable(), "lb": configurable("peers", "lb")}}}}
	for i, s := range []string{"db", "web", "web", "lb"} {
		n := app.Node{Name: app.NodeName(i + 1), Services: []string{s}}
		d.standing.nodes = append(d.standing.nodes, n)
		d.nodes = append(d.nodes, cluster.UpdatedNode{Name: n.Name, Services: n.Services})
	}
	d.services = servicesOn(d.standing.nodes)
	d.definition = d.was
	d.definition.Config = is
	return d
}

func workWords(nodes []cluster.UpdatedNode) string {
	var all []string
	for _, n := range nodes {
		for _, s := range slices.Sorted(maps.Keys(n.Work)) {
			all = append(all, fmt.Sprintf("%s.%s %s", n.Name, s, n.Work[s]))
		}
	}
	return strings.Join(all, ", ")
}

func TestChangesReachReadingServices(t *testing.T) {
	type m = map[string]any
	peers := "%join(host.service.web,' ')%"
	for _, c := range []struct {
		name    string
		was, is m
		change  func(d *updateBuilder)
		want    string
	}{
		{name: "nothing changed", was: m{"port": 1, "peers": peers}, is: m{"port": 1.0, "peers": peers}, want: ""},
		{name: "a key that one says it reads", was: m{"lb": m{"a": 1}}, is: m{"lb": m{"a": 2}}, want: "n4.lb reload"},
		{name: "a key that no one reads is for those that do not say what they read", was: m{"port": 1}, is: m{"port": 2}, want: "n2.web reload, n3.web reload"},
		{name: "a key that came", is: m{"port": 2}, want: "n2.web reload, n3.web reload"},
		{name: "a key that went", was: m{"port": 2}, want: "n2.web reload, n3.web reload"},
		{name: "a null is something else than nothing", was: m{"port": nil}, want: "n2.web reload, n3.web reload"},
		{name: "the key of another service is not read", was: m{"db": 1}, is: m{"db": 2}, want: "n1.db reload"},
		{name: "its own key is", was: m{"web": 1}, is: m{"web": 2}, want: "n2.web reload, n3.web reload"},
		{name: "without a restart", was: m{"lb": 1}, is: m{"lb": 2}, change: func(d *updateBuilder) { d.ask.NoRestart = true }, want: "n4.lb configure"},
		{name: "a macro of a service with a new node", was: m{"peers": peers}, is: m{"peers": peers},
			change: func(d *updateBuilder) {
				d.nodes = append(d.nodes, cluster.UpdatedNode{Name: "n5", Services: []string{"web"}, Change: plan.NodeNew})
			}, want: "n2.web reload, n3.web reload, n4.lb reload"},
		{name: "a macro of a service of which a node goes", was: m{"peers": peers}, is: m{"peers": peers},
			change: func(d *updateBuilder) { d.nodes[2].Change = plan.NodeGone }, want: "n2.web reload, n4.lb reload"},
		{name: "a macro of a service on a machine that is replaced", was: m{"peers": peers}, is: m{"peers": peers},
			change: func(d *updateBuilder) { d.nodes[1].Change = plan.NodeReplaced }, want: "n3.web reload, n4.lb reload"},
		{name: "a count, deep inside", was: m{"lb": m{"x": []any{m{"n": "%num.service.web%"}}}}, is: m{"lb": m{"x": []any{m{"n": "%num.service.web%"}}}},
			change: func(d *updateBuilder) { d.nodes[2].Change = plan.NodeGone }, want: "n4.lb reload"},
		{name: "a macro of a service that stays where it is", was: m{"peers": "%host.service.db%"}, is: m{"peers": "%host.service.db%"},
			change: func(d *updateBuilder) { d.nodes[2].Change = plan.NodeGone }, want: ""},
		{name: "what was added is set up anyway", was: m{"lb": 1}, is: m{"lb": 2},
			change: func(d *updateBuilder) { d.nodes[3].Added = []string{"lb"} }, want: ""},
		{name: "what is upgraded reads it by that", was: m{"lb": 1}, is: m{"lb": 2},
			change: func(d *updateBuilder) { d.nodes[3].AllWork("lb", plan.WorkUpgrade) }, want: "n4.lb upgrade"},
		{name: "what is only started reads it all the same", was: m{"lb": 1}, is: m{"lb": 2},
			change: func(d *updateBuilder) { d.nodes[3].AllWork("lb", plan.WorkReload) }, want: "n4.lb reload"},
		{name: "what cannot be configured has no work", was: m{"lb": 1}, is: m{"lb": 2},
			change: func(d *updateBuilder) {
				d.definition.Services["lb"].Actions = nil
				d.ask.Kind = app.OperationReconfigure
			}, want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := reached(c.was, c.is)
			if c.change != nil {
				c.change(d)
			}
			d.reach()
			if got := workWords(d.nodes); got != c.want {
				t.Errorf("work: %s\nwant  %s", got, c.want)
			}
		})
	}
	d := reached(m{"lb": 1}, m{"lb": 2})
	d.definition.Services["lb"].Actions, d.ask.Kind = nil, app.OperationReconfigure
	if d.reach(); len(d.notes) != 1 || !strings.Contains(d.notes[0], "at the next start") {
		t.Errorf("the notes are %q", d.notes)
	}
}

func TestOverridesAreMerged(t *testing.T) {
	type m = map[string]any
	for _, c := range []struct {
		base, over, want, kept m
	}{
		{m{"a": 1}, m{"b": 2}, m{"a": 1, "b": 2}, m{"a": 1, "b": 2}},
		{m{"a": m{"x": 1, "y": 2}}, m{"a": m{"x": nil}}, m{"a": m{"y": 2}}, m{"a": m{"x": nil, "y": 2}}},
		{m{"a": 1}, m{"a": m{"x": 1, "gone": nil}}, m{"a": m{"x": 1}}, m{"a": m{"x": 1, "gone": nil}}},
		{nil, m{"a": nil}, m{}, m{"a": nil}},
		{m{"a": m{"x": 1}}, m{"a": "text"}, m{"a": "text"}, m{"a": "text"}},
	} {
		before := fmt.Sprint(c.base)
		if got := overlay(c.base, c.over); !template.WrittenAlike(got, c.want) {
			t.Errorf("%v over %v is %v, want %v", c.over, c.base, got, c.want)
		}
		if got := addOverrides(c.base, c.over); !template.WrittenAlike(got, c.kept) {
			t.Errorf("%v over %v keeps %v, want %v", c.over, c.base, got, c.kept)
		}
		if fmt.Sprint(c.base) != before {
			t.Errorf("%s was changed to %v", before, c.base)
		}
		// Laid over in two steps or in one, it comes to the same.
		if one, two := overlay(m{"t": 1}, addOverrides(c.base, c.over)), overlay(overlay(m{"t": 1}, c.base), c.over); !template.WrittenAlike(one, two) {
			t.Errorf("%v over %v: %v in one step, %v in two", c.over, c.base, one, two)
		}
	}
}

func TestChangesShowNoSecrets(t *testing.T) {
	type m = map[string]any
	was := cluster.Definition{Config: m{"db": m{"password": "old1234", "port": 1}, "url": "http://a/", "list": []any{m{"token": "old1234"}}, "deep": m{"secret": m{"inner": "old1234"}}, "plain": "x"}}
	is := cluster.Definition{Config: m{"db": m{"password": "new1234", "port": 2, "user": m{"api_key": "new1234"}}, "url": "http://u:new1234@a/", "list": []any{m{"token": "new1234"}},
		"deep": m{"secret": m{"inner": "new1234"}}, "plain": "${secret:DB}", "pem": "-----BEGIN OPENSSH PRIVATE KEY-----"}}
	var lines []string
	for _, c := range cluster.ChangesOf(was, is) {
		lines = append(lines, fmt.Sprintf("%s: %s -> %s", c.Path, c.Before, c.After))
	}
	got := strings.Join(lines, "\n")
	want := `config.db.password: ••• -> •••
config.db.port: 1 -> 2
config.db.user.api_key:  -> •••
config.deep.secret.inner: ••• -> •••
config.list: [{"token":"•••"}] -> [{"token":"•••"}]
config.pem:  -> •••
config.plain: x -> ${secret:DB}
config.url: http://a/ -> •••`
	if got != want {
		t.Errorf("the changes are\n%s\nwant\n%s", got, want)
	}
}
