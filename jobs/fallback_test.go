package jobs_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/layout"
	"muster/app/template"
	"muster/providers/fake"
)

// withFallback lets nodes of small be of medium, or else of large; tiny is smaller, and so never chosen.
func withFallback(_ *engine, c *template.Catalog) {
	for name, f := range map[string]template.Flavor{"tiny": {Flavor: "t", CPU: 1}, "medium": {Flavor: "m", CostPerHour: 0.75, CPU: 4}, "large": {Flavor: "l", CostPerHour: 1.5, CPU: 8}} {
		c.Hardware[name] = &template.HardwareType{About: template.About{Name: name}, Providers: map[string]template.Flavor{"cloud": f}}
	}
	c.Hardware["small"].Providers["cloud"] = template.Flavor{Flavor: "s", CostPerHour: 0.5, CPU: 2}
	c.Templates["web"].Compatibility.Hardware = []string{"small"}
	c.Templates["web"].FallbackHardware = map[string][]string{"small": {"tiny", "medium", "large"}}
}

func full(flavor, node string, times int) fake.Outcome {
	return fake.Outcome{Err: &app.Error{Code: app.ECapacity, Message: "there is no room"}, Flavor: flavor, Node: node, Times: times}
}

// flavors returns what the cloud was asked for, for a node, in order.
func (e *engine) flavors(node string) (out []string) {
	for _, c := range e.cloud.Calls() {
		if c.Verb == fake.Create && c.Node == node {
			out = append(out, c.Flavor)
		}
	}
	return out
}

// TestFallbackHardware lets the zones be asked first, and then the template's other hardware, under the same intent.
func TestFallbackHardware(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(e *engine, c *template.Catalog) {
		withFallback(e, c)
		c.Providers["cloud"].Zones = []string{"a"}
	})
	p, err := e.app.Cluster.Creates.Preview(e.ctx, e.admin, cluster.CreateRequest{Request: layout.Request{Template: "web", Size: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Layout.MostPerHour != 3 || p.Layout.CostPerHour != 1 || !strings.Contains(strings.Join(p.Layout.Notes, "\n"), "If small is unavailable, nodes use medium, then large. The cluster then costs up to $3") {
		t.Errorf("the preview says up to %v: %q", p.Layout.MostPerHour, p.Layout.Notes)
	}
	if p.Plan.Fallbacks["small"] == nil {
		t.Error("what is approved does not name it")
	}
	e.cloud.Order(fake.Create, full("s", "n2", 2))
	e.cloud.Order(fake.Create, fake.Outcome{Flavor: "m", Node: "n2", Happens: true, Err: &app.Error{Code: app.ETransient, Message: "the response was lost"}})
	v := e.await(e.create(2).ID)
	e.want(v, app.ClusterActive)
	if got := e.flavors("n2"); !slices.Equal(got, []string{"s", "s", "m"}) {
		t.Errorf("the cloud was asked for %v", got)
	}
	if n := v.Nodes[1]; n.Hardware != "medium" || n.InsteadOf != "small" || v.Nodes[0].Hardware != "small" {
		t.Errorf("the nodes are %+v", v.Nodes)
	}
	if e.machines() != 2 || v.CostPerHour != 1.25 {
		t.Errorf("%d machines for %v an hour, want 2 for 1.25", e.machines(), v.CostPerHour)
	}
	receipt := e.receipt(v.ID)
	var prices []float64
	for _, r := range receipt.Lines {
		prices = append(prices, r.Price)
	}
	if slices.Sort(prices); !slices.Equal(prices, []float64{0.5, 0.75}) {
		t.Errorf("the receipt has prices %v", prices)
	}
	// To the layout the node is of the hardware that was chosen: it stays as it is, and only what comes is new.
	v, _ = e.updated(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	e.want(v, app.ClusterActive)
	if v.Nodes[1].Hardware != "medium" || v.Nodes[2].Hardware != "small" || v.CostPerHour != 1.75 || e.machines() != 3 {
		t.Errorf("after the resize, %v an hour: %+v", v.CostPerHour, v.Nodes)
	}
}

// TestFallbackHardwareIsCheckedSeparately has the look before a machine refuse the first hardware, and not the next.
func TestFallbackHardwareIsCheckedSeparately(t *testing.T) {
	e := newEngine(t, withFallback)
	_ = e.worker.Close()
	cloud := &looksAt{Provider: e.cloud, full: "s"}
	e.startWorkerWith("w2", manyClouds{"cloud": cloud})
	v := e.await(e.create(3).ID)
	e.want(v, app.ClusterActive)
	for _, n := range v.Nodes {
		if n.Hardware != "medium" || !slices.Equal(e.flavors(n.Name), []string{"m"}) {
			t.Errorf("%s is %s, and the cloud was asked for %v", n.Name, n.Hardware, e.flavors(n.Name))
		}
	}
}

// looksAt is a cloud whose account has no quota left for a flavor.
type looksAt struct {
	family.Provider
	full string
}

func (l *looksAt) CheckAccount(_ context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	for _, m := range needs.Machines {
		if m.Flavor.Flavor == l.full {
			return []family.Finding{{About: family.AboutQuota, Code: app.EQuota, Message: "Nothing is left of " + l.full + "."}}, nil
		}
	}
	return []family.Finding{{About: family.AboutQuota, OK: true, Message: "There is room."}}, nil
}

// TestFallbackHardwareWrapsAround asks for all of it once, tells that none was to be had, and begins again when it is resumed.
func TestFallbackHardwareWrapsAround(t *testing.T) {
	e := newEngine(t, withFallback)
	for _, flavor := range []string{"s", "m", "l"} {
		e.cloud.Order(fake.Create, fake.Outcome{Flavor: flavor, Node: "n2", Err: &app.Error{Code: app.EQuota, Message: "the limit of " + flavor + " is reached"}})
	}
	v := e.await(e.create(2).ID)
	if v.Operations[0].Status != app.OperationFailed || v.CostPerHour != 1 || v.Nodes[1].Hardware != "small" || v.Nodes[1].InsteadOf != "" {
		t.Fatalf("%s, %v an hour: %+v", v.Operations[0].Status, v.CostPerHour, v.Nodes)
	}
	steps, err := e.app.Cluster.Activity.Steps(e.ctx, e.admin, v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(steps, func(s app.Step) bool { return s.ID == "n2.create" })
	if want := "No capacity for small, medium, large. Last error: "; !strings.Contains(steps[i].Error, want) || !strings.Contains(steps[i].Error, "the limit of l is reached") || steps[i].Tries != 1 {
		t.Errorf("it says, after %d tries, %q", steps[i].Tries, steps[i].Error)
	}
	if _, err := e.app.Operation.Controls.ResumeOperation(e.ctx, e.admin, v.ID, v.Operations[0].ID); err != nil {
		t.Fatal(err)
	}
	e.want(e.await(v.ID), app.ClusterActive)
	if got := e.flavors("n2"); !slices.Equal(got, []string{"s", "m", "l", "s"}) {
		t.Errorf("the cloud was asked for %v", got)
	}
}
