package planner

import (
	"maps"
	"slices"

	"muster/app"
	"muster/app/plan"
)

// acceptPartial plans how an operation of which not all machines came is brought to its end with those that did. Nodes that are given back
// have nothing but that done to them, at once and behind nothing: none of their services was begun. On the others
//
//   - machine steps are not done again;
//   - of the services that the operation before brought (PlanNode.Begun) what has not succeeded is done; those that have to read the
//     configuration again are configured again, and all after that is done again, or they are reloaded where they run already;
//   - services that come to a node only now are set up from the beginning, behind its preparation for what they need;
//   - other services have done to them what the node says, as in an update.
//
// All of it is ordered as what comes up in an update: services wait for those that they need.
func acceptPartial(g *graph, r plan.Request) error {
	if err := checkUpdate(r); err != nil {
		return err
	}
	done, err := doneBy(r)
	if err != nil {
		return err
	}
	s, err := servicesOf(r)
	if err != nil {
		return err
	}
	if _, err := s.macros(texts(r)); err != nil {
		return err
	}
	a := &updatePlanner{graph: g, services: s, bootstrap: map[int]int{}, left: true}
	w := a.wave(everywhere)
	for n, node := range a.nodes {
		if node.Change == plan.NodeGone {
			w.act(n, "", app.ActionDelete)
			continue
		}
		if len(node.Added) > 0 {
			w.prepare(n)
			w.fresh(n, node.Added)
		}
		for _, name := range node.Begun {
			svc := w.service(name)
			w.chain(n, svc, svc.left(done[placed{node.Name, name}], node.Work[name]))
		}
		for _, name := range slices.Sorted(maps.Keys(node.Work)) {
			if !slices.Contains(node.Begun, name) {
				svc := w.service(name)
				w.chain(n, svc, svc.workActions(node.Work[name]))
			}
		}
	}
	w.close("")
	return nil
}

// left returns what is left to do of setting up a service, of which some actions have succeeded. With work it has to read the
// configuration again.
func (s *service) left(done map[app.Action]bool, work plan.ServiceWork) []app.Action {
	all := s.only(createActions...)
	open := slices.IndexFunc(all, func(a app.Action) bool { return !done[a] })
	switch {
	case work != "" && (open < 0 || done[app.ActionStart]):
		return s.workActions(work) // it runs, and is looked at in the end
	case open < 0:
		return nil
	case work != "" && done[app.ActionConfigure]:
		open = slices.Index(all, app.ActionConfigure)
	}
	return all[open:]
}

// doneBy returns the actions of services that have succeeded in the operation before, and refuses what does not fit together: EInvalid,
// reason "accept_partial".
func doneBy(r plan.Request) (map[placed]map[app.Action]bool, error) {
	done, unmade, begun := map[placed]map[app.Action]bool{}, map[string]string{}, map[string]string{}
	for _, s := range r.Went {
		switch {
		case s.Join, s.Action == app.ActionAsk: // people were asked between batches, which is of no node
		case s.Service != "":
			if s.Attempt > 0 || s.State == app.StepSucceeded {
				begun[s.Node] = s.ID
			}
			if s.State == app.StepSucceeded {
				at := placed{s.Node, s.Service}
				if done[at] == nil {
					done[at] = map[app.Action]bool{}
				}
				done[at][s.Action] = true
			}
		case s.Action.OnMachine() && s.State != app.StepSucceeded && unmade[s.Node] == "":
			unmade[s.Node] = s.ID
		}
	}
	for _, n := range r.Nodes {
		gone := n.Change == plan.NodeGone
		switch {
		case n.Change != "" && !gone:
			return nil, refuse("accept_partial", "%s has change %q, but accepting a partial result creates no machines.", n.Name, n.Change)
		case len(n.Removed) > 0:
			return nil, refuse("accept_partial", "%s would be removed from %s, but placed services must stay.", n.Removed[0], n.Name)
		case gone && begun[n.Name] != "":
			return nil, refuse("accept_partial", "%s can't be deleted: its services have started installing (%s).", n.Name, begun[n.Name])
		case !gone && unmade[n.Name] != "":
			return nil, refuse("accept_partial", "%s can't be kept: step %s isn't done.", n.Name, unmade[n.Name])
		}
		for _, name := range n.Begun {
			if gone || !slices.Contains(n.Services, name) || slices.Contains(n.Added, name) {
				return nil, refuse("accept_partial", "%s on %s was started by the previous operation but isn't there before and after.", name, n.Name)
			}
		}
	}
	return done, nil
}
