package cluster

import (
	"slices"
	"testing"

	"muster/app"
	"muster/app/layout"
	"muster/app/plan"
	apptemplate "muster/app/template"
)

func TestSmaller(t *testing.T) {
	small := apptemplate.Flavor{CPU: 2, MemoryGB: 4, DiskGB: 20}
	for _, c := range []struct {
		is   apptemplate.Flavor
		want string
	}{
		{small, ""},
		{apptemplate.Flavor{CPU: 2, MemoryGB: 8, DiskGB: 20}, ""},
		{apptemplate.Flavor{CPU: 1, MemoryGB: 8, DiskGB: 20}, "1 core instead of 2"},
		{apptemplate.Flavor{CPU: 4, MemoryGB: 2}, "2 GiB of memory instead of 4"},
		{apptemplate.Flavor{CPU: 4, DiskGB: 10.5}, "10.5 GiB of disk instead of 20"},
		{apptemplate.Flavor{}, ""}, // no one says how large it is
	} {
		if got := c.is.Smaller(small); got != c.want {
			t.Errorf("%+v: %q, want %q", c.is, got, c.want)
		}
	}
	if got := small.Smaller(apptemplate.Flavor{}); got != "" {
		t.Errorf("smaller than an unknown size: %q", got)
	}
}

// fallbackCatalog has hardware of four sizes at one provider; huge is at another one only.
func fallbackCatalog() *apptemplate.Catalog {
	c := apptemplate.NewCatalog()
	for name, cpu := range map[string]float64{"tiny": 1, "small": 2, "medium": 4, "large": 8} {
		c.Hardware[name] = &apptemplate.HardwareType{Providers: map[string]apptemplate.Flavor{"cloud": {Flavor: name, CPU: cpu, CostPerHour: cpu / 10}}}
	}
	c.Hardware["huge"] = &apptemplate.HardwareType{Providers: map[string]apptemplate.Flavor{"rack": {Flavor: "huge", CPU: 64}}}
	return c
}

func TestFallbacksOfATemplate(t *testing.T) {
	all := []string{"tiny", "huge", "gone", "small", "medium", "large"}
	for name, c := range map[string]struct {
		change func(t *apptemplate.Template)
		nodes  []apptemplate.Placed
		want   []string
	}{
		"not smaller, and at the provider": {nil, []apptemplate.Placed{{Hardware: "small", Services: []string{"web"}}}, []string{"medium", "large"}},
		"of what nodes are of":             {nil, []apptemplate.Placed{{Hardware: "medium", Services: nil}}, nil},
		"what a service is not to be on": {func(t *apptemplate.Template) {
			t.Constraints.Services = map[string]apptemplate.ServiceConstraint{"db": {Hardware: []string{"small", "large"}}}
		}, []apptemplate.Placed{{Hardware: "small", Services: []string{"web"}}, {Hardware: "small", Services: []string{"db", "web"}}}, []string{"large"}},
		"a service on other nodes says nothing": {func(t *apptemplate.Template) {
			t.Constraints.Services = map[string]apptemplate.ServiceConstraint{"db": {Hardware: []string{"medium"}}}
		}, []apptemplate.Placed{{Hardware: "small", Services: []string{"web"}}, {Hardware: "medium", Services: []string{"db"}}}, []string{"medium", "large"}},
		"what there may be only some of": {func(t *apptemplate.Template) { t.Constraints.Hardware = map[string]int{"medium": 3, "small": 5} }, []apptemplate.Placed{{Hardware: "small", Services: nil}}, []string{"large"}},
		"none":                           {func(t *apptemplate.Template) { t.FallbackHardware = nil }, []apptemplate.Placed{{Hardware: "small", Services: nil}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			template := &apptemplate.Template{FallbackHardware: map[string][]string{"small": all}}
			if c.change != nil {
				c.change(template)
			}
			if got := template.Fallbacks(fallbackCatalog(), "cloud", c.nodes)["small"]; !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestFallbacksRotate follows a node of which no hardware is to be had.
func TestFallbacksRotate(t *testing.T) {
	d := Definition{Hardware: map[string]apptemplate.Flavor{"small": {}}}
	c := fallbackCatalog()
	was := d.Hardware
	d.TakeFallbacks(c, &apptemplate.Template{FallbackHardware: map[string][]string{"small": {"medium", "large"}}}, "cloud", []apptemplate.Placed{{Hardware: "small", Services: nil}})
	if len(was) != 1 || len(d.Hardware) != 3 {
		t.Errorf("the definition has %v, and the one from before %v", d.Hardware, was)
	}
	later := d
	later.TakeFallbacks(c, &apptemplate.Template{}, "cloud", []apptemplate.Placed{{Hardware: "small", Services: nil}})
	if len(later.FallbackHardware) != 0 || len(d.FallbackHardware) != 1 {
		t.Errorf("a template that names none any more leaves %v, and of what was before %v", later.FallbackHardware, d.FallbackHardware)
	}
	if f := d.Highest("small", d.FallbackHardware); f.CPU != 8 || f.CostPerHour != 0.8 {
		t.Errorf("the most is %+v", f)
	}
	for _, c := range []struct {
		node app.Node
		want []string
	}{
		{app.Node{Hardware: "small"}, []string{"medium", "large"}},
		{app.Node{Hardware: "medium", InsteadOf: "small"}, []string{"large", "small"}},
		{app.Node{Hardware: "large", InsteadOf: "small"}, []string{"small"}},
		{app.Node{Hardware: "old", InsteadOf: "small"}, []string{"medium", "large", "small"}}, // which has left the definition
		{app.Node{Hardware: "large"}, nil},                                                    // it is to be large
	} {
		if got := d.NextOf(c.node); !slices.Equal(got, c.want) {
			t.Errorf("after %+v comes %v, want %v", c.node, got, c.want)
		}
	}
}

func TestFallbacksOfAPlan(t *testing.T) {
	r := plan.Request{Kind: app.OperationCreate, Fallbacks: map[string][]string{"small": {"medium"}, "large": {"huge"}}, Nodes: []plan.Node{{Name: "n1", Hardware: "small"}}}
	p := plan.Plan{Fallbacks: r.FallbacksOf()}
	if want := "If small is unavailable, nodes use medium."; p.FallbackWords() != want {
		t.Errorf("got %q, want %q", p.FallbackWords(), want)
	}
	if (plan.Plan{}).Hash() == p.Hash() {
		t.Error("what is approved does not hold what it may come to")
	}
	r.Kind = app.OperationRepair
	if got := r.FallbacksOf(); got != nil {
		t.Errorf("a repair may use %v", got)
	}
	if r.Kind = app.OperationResize; r.FallbacksOf() != nil {
		t.Error("an existing node may become another one")
	}
	r.Nodes[0].Change = plan.NodeNew
	if got := r.FallbacksOf(); len(got) != 1 {
		t.Errorf("a new node may be %v", got)
	}
	if got := (layout.Layout{CostPerHour: 0.5}).Price() + ", " + (layout.Layout{CostPerHour: 0.5, MostPerHour: 0.75}).Price(); got != "0.50, 0.50 to 0.75" {
		t.Errorf("prices are shown as %s", got)
	}
}
