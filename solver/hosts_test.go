package solver_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"muster/app/layout"
	apptemplate "muster/app/template"
	"muster/solver"
	"muster/solver/explain"
	"muster/solver/solvertest"
)

// onHosts is a layout in short: for each host, by name, the services of its nodes.
func onHosts(l layout.Layout) string {
	out := ""
	for _, g := range l.Groups {
		out += fmt.Sprintf("%d %v on %s\n", g.Count, g.Services, g.Host)
	}
	return out
}

func TestHosts(t *testing.T) {
	free := func(x float64) *float64 { return &x }
	slot := func(name string, nodes int, has ...layout.HostedNode) layout.Host {
		return layout.Host{Name: name, Hardware: "slot", Nodes: nodes, Has: has}
	}
	other := func(services ...string) layout.HostedNode { return layout.HostedNode{Cluster: "x", Services: services} }
	for _, test := range []struct {
		name  string
		hosts []layout.Host
		rule  *apptemplate.HostRule
		size  int
		want  string // "" where there is no layout
	}{
		{"by name, as many as there is room for", []layout.Host{slot("r2", 2), slot("r1", 1), slot("r3", 3)}, nil, 4,
			"1 [app] on r1\n1 [app] on r2\n1 [db] on r2\n1 [db] on r3\n"},
		{"one node too many", []layout.Host{slot("r1", 1), slot("r2", 2)}, nil, 4, ""},
		{"alone leaves the others to the shared hosts", []layout.Host{slot("r1", 2), slot("r2", 4, other("batch"))}, &apptemplate.HostRule{Alone: []string{"db"}}, 4,
			"2 [app] on r2\n2 [db] on r1\n"},
		{"alone has no host", []layout.Host{slot("r1", 1), slot("r2", 4, other("batch"))}, &apptemplate.HostRule{Alone: []string{"db"}}, 4, ""},
		{"apart from some", []layout.Host{slot("r1", 4, other("batch")), slot("r2", 2, other("web"))},
			&apptemplate.HostRule{Apart: []apptemplate.HostApart{{Service: "db", From: []string{"batch", "etl"}}}}, 4, "2 [app] on r1\n2 [db] on r2\n"},
		{"another cluster wants to be alone", []layout.Host{slot("r1", 4, layout.HostedNode{Cluster: "x", Alone: true}), slot("r2", 3)}, nil, 4, ""},
		{"another cluster keeps apart", []layout.Host{slot("r1", 4, layout.HostedNode{Cluster: "x", Apart: []string{"app"}}), slot("r2", 2)}, nil, 4,
			"2 [app] on r2\n2 [db] on r1\n"},
		{"separate", []layout.Host{slot("r1", 4), slot("r2", 4)}, &apptemplate.HostRule{Separate: []string{"db"}}, 4, "2 [app] on r1\n1 [db] on r1\n1 [db] on r2\n"},
		{"separate has too few hosts", []layout.Host{slot("r1", 8)}, &apptemplate.HostRule{Separate: []string{"db"}}, 4, ""},
		{"at most two of the cluster", []layout.Host{slot("r1", 4), slot("r2", 4)}, &apptemplate.HostRule{MaxNodes: 2}, 4, "2 [app] on r1\n2 [db] on r2\n"},
		{"what the hardware offers is taken", []layout.Host{{Name: "r1", Hardware: "sized", Nodes: 9, Free: layout.HostFree{CPU: free(7.9)}}, slot("r2", 1)}, nil, 4,
			"2 [app] on r1\n1 [db] on r1\n1 [db] on r2\n"},
		{"what services need is taken, where hardware does not say", []layout.Host{
			{Name: "r1", Hardware: "slot", Nodes: 9, Free: layout.HostFree{MemoryGB: free(9)}},
			{Name: "r2", Hardware: "slot", Nodes: 9, Free: layout.HostFree{MemoryGB: free(8)}}}, nil, 4, "1 [app] on r1\n1 [app] on r2\n1 [db] on r1\n1 [db] on r2\n"},
		{"too much is needed", []layout.Host{
			{Name: "r1", Hardware: "slot", Nodes: 9, Free: layout.HostFree{MemoryGB: free(8)}},
			{Name: "r2", Hardware: "slot", Nodes: 9, Free: layout.HostFree{MemoryGB: free(7)}}}, nil, 4, ""},
		{"no hosts at all", nil, nil, 4, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, template := solvertest.New(0)
			c.Hardware = map[string]*apptemplate.HardwareType{
				"sized": {Providers: map[string]apptemplate.Flavor{"p": {Flavor: "s", CPU: 2.5}}},
				"slot":  {Providers: map[string]apptemplate.Flavor{"p": {Flavor: "s"}}},
			}
			for name, memory := range map[string]float64{"app": 2, "db": 6} {
				c.Services[name] = &apptemplate.Service{Needs: apptemplate.Requirements{MemoryGB: memory}}
			}
			template.Defaults.Services = []string{"app", "db"}
			template.Constraints.Services = map[string]apptemplate.ServiceConstraint{"app": solvertest.Between(2, 2), "db": solvertest.Between(2, 2)}
			template.Constraints.CantCoexist = [][]string{{"app", "db"}}
			template.Constraints.Hosts, template.Constraints.MixedHardware = test.rule, true
			r := layout.Request{Template: "t", Size: test.size, Pool: &layout.HostPool{Provider: "p", Hosts: test.hosts}}
			got, err := solver.New().Solve(context.Background(), c, r)
			if onHosts(got) != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %v\n%swant\n%s", err, onHosts(got), test.want)
			}
			if err == nil {
				if wrong := solvertest.Check(c, r, got); len(wrong) > 0 {
					t.Error(wrong)
				}
				return
			}
			e, err := explain.New(solver.New()).Explain(context.Background(), c, r)
			if err != nil || !e.Minimal || len(e.Fixes) == 0 {
				t.Errorf("%+v, %v", e, err)
			}
		})
	}
}

// TestHostsOfOtherProvidersAreIgnored also tells that nothing is different without a pool.
func TestHostsOfOtherProvidersAreIgnored(t *testing.T) {
	c := solvertest.Loose(30)
	c.Templates["t"].Constraints.Hosts = &apptemplate.HostRule{Alone: []string{"s000"}, MaxNodes: 1}
	r := layout.Request{Template: "t", Size: 1000}
	want, err := solver.New().Solve(context.Background(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Pool = &layout.HostPool{Provider: "q"}
	if got, err := solver.New().Solve(context.Background(), c, r); err != nil || !reflect.DeepEqual(got.Groups, want.Groups) {
		t.Errorf("got %v, %v", got, err)
	}
}

// racks is so many hosts of the three types of solvertest, every third of them with another cluster.
func racks(hosts, nodes int) *layout.HostPool {
	p := &layout.HostPool{Provider: "p"}
	for i := range hosts {
		h := layout.Host{Name: fmt.Sprintf("r%04d", i), Hardware: []string{"large", "medium", "small"}[i%3], Nodes: 1 + i%nodes}
		if i%4 == 0 {
			h.Has = []layout.HostedNode{{Cluster: "x", Services: []string{"s001", "s005"}}}
		}
		p.Hosts = append(p.Hosts, h)
	}
	return p
}

// onRacks are questions with pools, each with the time that is meant to be enough.
var onRacks = []struct {
	name   string
	hosts  int
	size   int
	prefer apptemplate.Preference
	rule   *apptemplate.HostRule
	within time.Duration
}{
	{"30 services, 200 nodes on 300 hosts", 300, 200, apptemplate.PreferPacked, nil, 100 * time.Millisecond},
	{"30 services, 700 nodes on 300 hosts", 300, 700, apptemplate.PreferPacked, nil, time.Second},
	{"30 services, 500 nodes on 1000 hosts, alone and separate", 1000, 500, apptemplate.PreferPacked,
		&apptemplate.HostRule{Alone: []string{"s002", "s003"}, Separate: []string{"s004", "s008"}, Apart: []apptemplate.HostApart{{Service: "s009", From: []string{"s001"}}}}, 2 * time.Second},
	{"30 services, 100 nodes on 300 hosts, cheapest", 300, 100, apptemplate.PreferCheapest, &apptemplate.HostRule{Alone: []string{"s002", "s003"}}, time.Second},
}

func TestBigPools(t *testing.T) {
	for _, p := range onRacks {
		t.Run(p.name, func(t *testing.T) {
			c := solvertest.Loose(30)
			c.Templates["t"].Constraints.Hosts = p.rule
			r := layout.Request{Template: "t", Size: p.size, Prefer: p.prefer, Pool: racks(p.hosts, 4)}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // reached only where something hangs
			defer cancel()
			start := time.Now()
			got, err := solver.New().Solve(ctx, c, r)
			took := time.Since(start)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := solvertest.Check(c, r, got); len(wrong) > 0 {
				t.Fatal(wrong)
			}
			t.Logf("took %v", took)
			if took > 2*time.Minute {
				t.Errorf("took %v, which is far more than %v", took, p.within)
			}
		})
	}
}
