package health

import (
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// interrupted: a machine that its provider takes away is noted once, and its node is due to be repaired at once, whatever a round of checks finds.
func (t *storeTest) interrupted() {
	id := t.looked("web", &template.HealthPolicy{Interval: time.Minute, Repair: template.RepairAuto, After: 2})
	off := t.looked("off", nil)
	at := t.Clock.Now().Add(2 * time.Minute)
	mark := func(tenant, cluster, node, machine string, at time.Time, want ...string) {
		t.Helper()
		newly, err := t.Store.MarkInterrupted(t.Ctx, tenant, cluster, []fleet.Interruption{{Node: node, Machine: machine, At: at}}, t.Clock.Now())
		if err != nil || !slices.Equal(newly, want) {
			t.Errorf("newly %v, want %v: %v", newly, want, err)
		}
	}
	due := func() string {
		list, err := t.Store.RepairsDue(t.Ctx, t.Clock.Now(), 10)
		t.Must(err)
		if len(list) != 1 {
			return fmt.Sprint(len(list))
		}
		d := list[0]
		return fmt.Sprint(d.Cluster.ID == id, len(d.Ill), d.Interrupted, d.TenantIll, d.Choose().Nodes)
	}
	mark("another", id, "n2", "webn2", at)
	mark(kit.Tenant, id, "n2", "another", at)
	mark(kit.Tenant, "nothing", "n2", "webn2", at)
	if got := due(); got != "0" {
		t.Errorf("nothing is announced, and due: %s", got)
	}
	mark(kit.Tenant, id, "n2", "webn2", at, "n2")
	mark(kit.Tenant, id, "n2", "webn2", at.Add(time.Hour))
	mark(kit.Tenant, off, "n1", "offn1", at, "n1")
	nodes, err := t.Store.Nodes(t.Ctx, kit.Tenant, id)
	t.Must(err)
	if !nodes[1].Interrupted() || !nodes[1].LeavesAt.Equal(at) || nodes[0].Interrupted() {
		t.Errorf("marked: %+v", nodes)
	}
	if got := due(); got != "true 0 [n2] 1 [n2]" {
		t.Errorf("due: %s", got)
	}
	t.goRound(id, "n3 web")
	if got := due(); got != "true 0 [n2] 1 [n2]" {
		t.Errorf("due after a round: %s", got)
	}
	all, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 100)
	t.Must(err)
	var texts []string
	for _, n := range all {
		if n.Kind == app.NoticeLost {
			texts = append(texts, n.Text)
		}
	}
	if !slices.Equal(texts, []string{"Automatic repair drains and replaces the node, unless it's paused.",
		"Replace it before then: muster cluster repair off n1"}) {
		t.Errorf("notices: %q", texts)
	}

	_, err = t.Store.MarkNodes(t.Ctx, kit.Tenant, id, []string{"n2"}, nil, t.Clock.Now())
	t.Must(err)
	if got := due(); got != "true 0 [n2] 1 [n2]" {
		t.Errorf("its machine is gone, and due: %s", got)
	}
	_, err = t.Store.MarkNodes(t.Ctx, kit.Tenant, id, nil, []string{"n2"}, t.Clock.Now())
	t.Must(err)
	mark(kit.Tenant, id, "n2", "webn2", time.Time{})
	if got := due(); got != "true 0 [] 0 []" {
		t.Errorf("it came to nothing, and due: %s", got)
	}
}
