package planner

import (
	"slices"

	"muster/app"
)

// needsVolumes reports whether one of some services declares volumes.
func (s *services) needsVolumes(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		i, ok := s.byName[name]
		return ok && len(s.list[i].entry.Volumes) > 0
	})
}

// attach plans the step that brings a node's volumes and mounts them; -1 where its services need none. It comes when the machine is confirmed, and
// before its services' automators.
func (s *services) attach(g *graph, n int) int {
	if !s.needsVolumes(g.nodes[n].Services) {
		return -1
	}
	return g.act(n, "", app.ActionAttach)
}

// detachRemoved plans that the volumes of services that are removed from a node leave it, once these are removed.
func (w *wave) detachRemoved(n int) {
	node := w.nodes[n]
	if node.Change != "" || node.Lost || !w.needsVolumes(node.Removed) {
		return
	}
	detach := w.act(n, "", app.ActionDetach)
	for i, s := range w.steps[w.from:detach] {
		if s.Node == node.Name && slices.Contains(node.Removed, s.Service) {
			w.need(detach, w.from+i)
		}
	}
}

// delete plans that a machine is given back behind some steps, once its volumes are unmounted. Nothing can be unmounted on a machine that is
// lost: the provider takes its volumes off when it's deleted, for which the delete step waits.
func (w *wave) delete(n int, behind ...int) int {
	step := w.act(n, "", app.ActionDelete)
	if w.nodes[n].Lost || !w.needsVolumes(w.nodes[n].Services) {
		w.need(step, behind...)
		return step
	}
	detach := w.act(n, "", app.ActionDetach)
	w.need(detach, behind...)
	w.need(step, detach)
	return step
}
