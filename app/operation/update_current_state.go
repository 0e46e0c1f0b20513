package operation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/template"
)

// standing is a cluster as an update finds it.
type standing struct {
	app.Cluster
	was      cluster.Definition           // with the entries of the services on it only
	nodes    []app.Node                   // that stand, in number order
	places   map[string]int               // in nodes, by name
	services []string                     // on them, sorted
	left     []app.Node                   // that an operation which did not end well has begun to give back
	all      map[string]*template.Service // entries of all services, also of those that went
	undone   app.OperationKind            // where the latest operation is a rollback: what it undoes
	latest   app.Operation                // that may have left something undone
	follows  int64                        // the latest one of all
	ops      []app.Operation              // newest first
	open     []app.Step                   // of the latest operation, where it did not end well: those that have not succeeded
}

// standing reads the existing cluster, and refuses a cluster that cannot be updated at all at the moment.
func (a *Builder) standing(ctx context.Context, c app.Cluster) (*standing, error) {
	s := &standing{Cluster: c}
	if c.Status == app.ClusterDeleted {
		return nil, &app.Error{Code: app.EConflict, Reason: "cluster_deleted", Message: fmt.Sprintf("Cluster %q was deleted.", c.Name), Hint: "Create a new one."}
	}
	ops, err := a.Store.Operations(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	s.latest, s.follows, s.ops = cluster.LatestLeft(ops), cluster.LatestBegun(ops).ID, ops
	s.undone = cluster.UndoneKind(ops, s.latest)
	if err := s.checkIdle(); err != nil {
		return nil, err
	}
	if s.was, err = a.Store.Definition(ctx, c.Tenant, c.ID); err != nil {
		return nil, err
	}
	all, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		switch {
		case n.Status == app.NodeDeleted:
		case n.Leaving:
			s.left = append(s.left, n)
		default:
			s.nodes = append(s.nodes, n)
		}
	}
	s.index()
	s.services = servicesOn(s.nodes)
	s.all = s.was.Services
	s.was.Services = maps.Clone(s.was.Services)
	maps.DeleteFunc(s.was.Services, func(name string, _ *template.Service) bool { return !slices.Contains(s.services, name) })
	if c.Status == app.ClusterFailed && (s.latest.Status == app.OperationFailed || s.latest.Status == app.OperationCancelled) {
		steps, err := a.Store.Steps(ctx, c.Tenant, s.latest.ID)
		if err != nil {
			return nil, err
		}
		s.open = slices.DeleteFunc(steps, func(st app.Step) bool { return st.Join || st.State == app.StepSucceeded })
	}
	return s, nil
}

// checkIdle refuses while another operation is running.
func (s *standing) checkIdle() error {
	if s.latest.ID == 0 || s.latest.Status.Ended() {
		return nil
	}
	e := &app.Error{Code: app.EConflict, Reason: "operation_running", Message: fmt.Sprintf("Cluster %q can't be changed yet: %s %s.", s.Name, s.latest.Kind.The(), app.States[s.latest.Status])}
	switch s.latest.Status {
	case app.OperationPaused:
		e.Hint = "Resume the operation and wait until it finishes, or cancel it."
	case app.OperationCancelling:
		e.Hint = "Wait until it has been cancelled."
	default:
		e.Hint = "Wait until the operation finishes, or cancel it."
	}
	return e
}

// allows refuses a kind of update in the state that the cluster is in, and says what can be done instead.
func (s *standing) allows(kind app.OperationKind) error {
	switch s.Status {
	case app.ClusterActive:
		return nil
	case app.ClusterFailed:
		return s.allowsFailed(kind)
	}
	e := &app.Error{Code: app.EConflict, Reason: "cluster_" + string(s.Status), Message: fmt.Sprintf("Cluster %q is %s and can't be changed.", s.Name, s.Status),
		Hint: "Try again when the cluster is active."}
	if s.Status == app.ClusterAsleep {
		e.Hint = "Wake the cluster first."
	}
	return e
}

func (s *standing) allowsFailed(kind app.OperationKind) error {
	p := s.recovery()
	if p.Updates(kind) {
		return nil
	}
	e := &app.Error{Code: app.EConflict, Reason: "cluster_failed"}
	if p.LostOnly() {
		e.Message, e.Hint = p.Text(cluster.View{Cluster: s.Cluster})+" Until the cluster is repaired, you can only start and stop services.", "Repair the cluster first."
		return e
	}
	e.Message = fmt.Sprintf("Cluster %q can't be changed this way: %s %s and left unfinished steps.", s.Name, s.latest.Kind.The(), app.States[s.latest.Status])
	verbs := make([]string, 0, 4)
	for _, w := range p.Ways() {
		verbs = append(verbs, w.Verb())
	}
	e.Hint = humanize.Upper(humanize.Or(verbs)) + "."
	return e
}

// recovery is what decides which options there are.
func (s *standing) recovery() cluster.Recovery {
	nodes := slices.Concat(s.nodes, s.left)
	p := cluster.NewRecovery(cluster.View{Cluster: s.Cluster, Nodes: nodes}, cluster.UnfinishedOf(s.open, nodes))
	p.Latest, p.Undone = s.latest, s.undone
	return p
}

func (s *standing) index() {
	s.places = make(map[string]int, len(s.nodes))
	for i, n := range s.nodes {
		s.places[n.Name] = i
	}
}

// node returns an existing node by its name, or nil.
func (s *standing) node(name string) *app.Node {
	if i, stands := s.places[name]; stands {
		return &s.nodes[i]
	}
	return nil
}

// checkNodes refuses names of nodes that do not stand.
func (s *standing) checkNodes(names []string) error {
	for _, name := range names {
		if s.node(name) != nil {
			continue
		}
		return &app.Error{Code: app.EInvalid, Field: "nodes", Message: fmt.Sprintf("Cluster %q has no node %q.", s.Name, name),
			Hint: humanize.DidYouMean(name, slices.Collect(maps.Keys(s.places)), fmt.Sprintf("It has %s.", humanize.Count(len(s.nodes), "node")))}
	}
	return nil
}

// checkServices refuses names of services that are not on the cluster.
func (s *standing) checkServices(names []string) error {
	for _, name := range names {
		if !slices.Contains(s.services, name) {
			return &app.Error{Code: app.EInvalid, Field: "services", Message: fmt.Sprintf("Cluster %q has no service %q.", s.Name, name),
				Hint: humanize.DidYouMean(name, s.services, "It has "+humanize.And(s.services)+".")}
		}
	}
	return nil
}

// servicesOn returns the services on nodes, sorted, each once.
func servicesOn(nodes []app.Node) []string {
	all := map[string]bool{}
	for _, n := range nodes {
		for _, s := range n.Services {
			all[s] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
