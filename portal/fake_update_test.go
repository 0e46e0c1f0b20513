package portal

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/secret"
	"muster/portal/site"
)

// fakeUpdates is a Muster that also updates clusters. What it shows is what it does; nodes are added to and taken from the end.
type fakeUpdates struct {
	site.Specs
	fake      *fake
	newer     bool             // the catalog has something newer than clusters were made of
	unhealthy []string         // nodes that a repair makes again
	refuses   *policy.Decision // what policies say; nil: nothing
	updated   []cluster.Update // what Update was called with
	waits     bool             // updates wait for approvals

	refusesParameter string
}

func (f *fakeUpdates) PreviewUpdate(_ context.Context, a app.Actor, id string, m cluster.Update) (cluster.UpdatePreview, error) {
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	return f.previewUpdate(a, id, m)
}

func (f *fakeUpdates) previewUpdate(a app.Actor, id string, m cluster.Update) (cluster.UpdatePreview, error) {
	v, err := f.fake.view(id)
	if err != nil {
		return cluster.UpdatePreview{}, err
	}
	if !a.MayIn("PreviewUpdate", shownTo(v.Cluster, a)) {
		return cluster.UpdatePreview{}, app.Errorf(app.EForbidden, "Only its owner and admins may do that.")
	}
	if len(v.Operations) > 0 && !v.Operations[0].Status.Ended() {
		return cluster.UpdatePreview{}, &app.Error{Code: app.EConflict, Message: "Another operation is in progress.", Hint: "Wait until it finishes."}
	}
	p := cluster.UpdatePreview{Kind: m.Kind, Before: cluster.Figures{Nodes: v.Size, CostPerHour: v.CostPerHour}, Plan: plan.Plan{Kind: m.Kind}, Decision: f.refuses}
	for _, n := range v.Nodes {
		if n.Status != app.NodeDeleted {
			p.Nodes = append(p.Nodes, cluster.UpdatedNode{Name: n.Name, Hardware: n.Hardware, Image: n.Image, Services: slices.Clone(n.Services)})
		}
	}
	last := -1
	step := func(node string, act app.Action, service string) {
		s := plan.Step{ID: strings.Join(slices.DeleteFunc([]string{node, service, string(act)}, func(s string) bool { return s == "" }), "."), Node: node, Action: act, Service: service}
		if last >= 0 {
			s.Needs = []int{last}
		}
		last = len(p.Plan.Steps)
		p.Plan.Steps = append(p.Plan.Steps, s)
	}
	work := func(w plan.ServiceWork, acts ...app.Action) {
		for i := range p.Nodes {
			n := &p.Nodes[i]
			if len(m.Nodes) > 0 && !slices.Contains(m.Nodes, n.Name) {
				continue
			}
			for _, s := range n.Services {
				if len(m.Services) > 0 && !slices.Contains(m.Services, s) {
					continue
				}
				if n.Work == nil {
					n.Work = map[string]plan.ServiceWork{}
				}
				n.Work[s] = w
				for _, act := range acts {
					step(n.Name, act, s)
				}
			}
		}
	}
	switch m.Kind {
	case app.OperationResize:
		t := f.fake.catalog.Templates[v.Template]
		if m.Size == 0 {
			m.Size = v.Size - len(m.Nodes)
		}
		if s := t.Constraints.Size; !s.Allows(m.Size) {
			return cluster.UpdatePreview{}, &app.Error{Code: app.EInvalid, Reason: "size", Field: "size", Message: s.Refusal(m.Size)}
		}
		like := p.Nodes[len(p.Nodes)-1]
		for i := len(p.Nodes); i < m.Size; i++ {
			n := cluster.UpdatedNode{Name: app.NodeName(i + 1), Hardware: cmp.Or(m.Hardware, like.Hardware), Image: like.Image, Services: like.Services, Change: plan.NodeNew}
			step(n.Name, app.ActionCreate, "")
			step(n.Name, app.ActionConfirm, "")
			for _, s := range n.Services {
				step(n.Name, app.ActionInstall, s)
				step(n.Name, app.ActionStart, s)
			}
			p.Nodes = append(p.Nodes, n)
		}
		for i := range p.Nodes {
			n := &p.Nodes[i]
			if slices.Contains(m.Nodes, n.Name) || len(m.Nodes) == 0 && i >= m.Size {
				n.Change, n.Reason = plan.NodeGone, "the youngest"
				for _, s := range n.Services {
					step(n.Name, app.ActionStop, s)
				}
				step(n.Name, app.ActionDelete, "")
			}
		}
	case app.OperationAddServices:
		for _, s := range m.Services {
			p.Nodes[0].Added, p.Nodes[0].Services = append(p.Nodes[0].Added, s), append(p.Nodes[0].Services, s)
			step("n1", app.ActionInstall, s)
			step("n1", app.ActionStart, s)
		}
	case app.OperationRemoveServices:
		for i := range p.Nodes {
			n := &p.Nodes[i]
			for _, s := range m.Services {
				if slices.Contains(n.Services, s) {
					n.Removed, n.Services = append(n.Removed, s), slices.DeleteFunc(n.Services, func(x string) bool { return x == s })
					step(n.Name, app.ActionStop, s)
					step(n.Name, app.ActionRemove, s)
				}
			}
		}
	case app.OperationReconfigure:
		if _, said := m.Parameters[f.refusesParameter]; said {
			return p, &app.Error{Code: app.EInvalid, Field: "parameters." + f.refusesParameter, Message: f.refusesParameter + " is missing."}
		}
		for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
			p.Changes = append(p.Changes, app.ValueChange{Path: "parameters." + name, After: fmt.Sprint(m.Parameters[name])})
		}
		if len(p.Changes)+len(m.Config) == 0 {
			p.NoChanges = true
			break
		}
		for _, key := range slices.Sorted(maps.Keys(m.Config)) {
			p.Changes = append(p.Changes, app.ValueChange{Path: "config." + key, Before: fmt.Sprint(v.Config[key]), After: fmt.Sprint(m.Config[key])})
		}
		work(plan.WorkReload, app.ActionConfigure, app.ActionReload)
	case app.OperationStart:
		work(plan.WorkStart, app.ActionStart)
	case app.OperationStop:
		work(plan.WorkStop, app.ActionStop)
	case app.OperationRestart:
		work(plan.WorkRestart, app.ActionStop, app.ActionStart)
	case app.OperationUpgrade:
		if p.NoChanges = !f.newer; f.newer {
			p.Template = v.Template
			p.Changes = []app.ValueChange{{Path: "services.web.install", Before: "apt-get install web=1", After: "apt-get install web=2"}}
			work(plan.WorkUpgrade, app.ActionStop, app.ActionInstall, app.ActionConfigure, app.ActionStart, app.ActionCheck)
		}
	case app.OperationRepair:
		for i := range p.Nodes {
			n := &p.Nodes[i]
			if slices.Contains(m.Nodes, n.Name) || len(m.Nodes) == 0 && slices.Contains(f.unhealthy, n.Name) {
				n.Change = plan.NodeReplaced
				step(n.Name, app.ActionDelete, "")
				step(n.Name, app.ActionCreate, "")
				for _, s := range n.Services {
					step(n.Name, app.ActionInstall, s)
					step(n.Name, app.ActionStart, s)
				}
			}
		}
		p.NoChanges = len(p.Plan.Steps) == 0
	default:
		return cluster.UpdatePreview{}, &app.Error{Code: app.EInvalid, Field: "kind", Message: "There is no such update."}
	}
	for i := len(p.Plan.Steps) - 1; i >= 0; i-- {
		s := &p.Plan.Steps[i]
		s.Rank += took[s.Action]
		for _, n := range s.Needs {
			p.Plan.Steps[n].Rank = max(p.Plan.Steps[n].Rank, s.Rank)
		}
	}
	for _, n := range p.Nodes {
		if n.Change != plan.NodeGone {
			p.After.Nodes++
			p.After.CostPerHour += 0.12
		}
	}
	p.PlanHash, p.Duration = p.Plan.Hash(), p.Plan.Duration()
	return p, nil
}

func (f *fakeUpdates) ClusterConfig(_ context.Context, a app.Actor, id string) (map[string]any, error) {
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	v, err := f.fake.view(id)
	if err == nil && !a.MayIn("Update", shownTo(v.Cluster, a)) {
		err = app.Errorf(app.EForbidden, "Only its owner and admins may do that.")
	}
	return map[string]any{"dfs": map[string]any{"replication": 3.0, "block_size_mb": 128.0}, "password": secret.HiddenValue}, err
}

func (f *fakeUpdates) Update(_ context.Context, a app.Actor, id string, m cluster.Update) (cluster.UpdateAnswer, error) {
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	p, err := f.previewUpdate(a, id, m)
	if err != nil {
		return cluster.UpdateAnswer{}, err
	}
	if m.PlanHash != "" && m.PlanHash != p.PlanHash {
		return cluster.UpdateAnswer{}, &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan has changed since you reviewed it."}
	}
	f.updated = append(f.updated, m)
	c := f.fake.find(id)
	switch {
	case f.waits:
		return cluster.UpdateAnswer{Request: &cluster.Request{ID: 7, Kind: m.Kind, Cluster: id, Status: cluster.RequestWaiting}}, nil
	case p.NoChanges:
		return cluster.UpdateAnswer{Cluster: c}, nil
	}
	c.Size, c.CostPerHour = p.After.Nodes, p.After.CostPerHour
	for _, n := range p.Nodes {
		if n.Change == plan.NodeNew {
			c.Nodes = append(c.Nodes, app.Node{Cluster: id, Name: n.Name, Hostname: n.Name + "-" + id + ".muster.example", Hardware: n.Hardware, Image: n.Image, Services: n.Services, Status: app.NodePlanned})
		}
	}
	f.fake.operate(c, a, p.Plan)
	v, err := f.fake.view(id)
	return cluster.UpdateAnswer{Cluster: &v, Operation: v.Operations[0].ID}, err
}

// updating is a site whose visitor, signed in, sees a workshop.
func updating(t *testing.T, user string) (*testSite, *fakeUpdates) {
	t.Helper()
	w := &fakeUpdates{}
	s := visit(t, func(c *Config) {
		w.fake = fakeOf(c)
		c.UseCases = useCases(w.fake, w)
	})
	s.signIn(user)
	return s, w
}

// rest carries out everything in progress.
func (s *testSite) rest(id string) {
	for s.f.advance(id, 100) {
	}
}
