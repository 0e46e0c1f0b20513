//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/fleet"
)

// tally is what has been counted so far.
type tally struct {
	operations map[app.OperationStatus]int
	kinds      map[app.OperationKind]int
	steps      int // that act and have succeeded
	effects    int
	orphans    int // machines that the reconciler had to find
}

func newTally() tally {
	return tally{operations: map[app.OperationStatus]int{}, kinds: map[app.OperationKind]int{}}
}

// check looks at all that was promised, once everything has come to rest.
func (h *harness) check(ctx context.Context) error {
	list, err := h.client.clusters(ctx, "")
	if err != nil {
		return err
	}
	known := map[string]app.ClusterSummary{}
	for _, c := range list {
		known[c.ID] = c
	}
	for _, p := range h.book.open() {
		if _, ok := known[p.id]; !ok {
			h.book.blame(lostCluster, fmt.Sprintf("%s was accepted but isn't listed", p.id))
			continue
		}
		if err := h.checkCluster(ctx, p); err != nil {
			return err
		}
	}
	return h.checkMachines(ctx)
}

// checkCluster looks at one cluster: its operations, its steps, and what its nodes have done.
func (h *harness) checkCluster(ctx context.Context, p promise) error {
	v, err := h.client.cluster(ctx, p.id)
	if err != nil {
		return err
	}
	if p.deleting && v.Status != app.ClusterDeleted {
		h.book.blame(lostOp, fmt.Sprintf("%s should be deleted but is %s: %s", p.id, v.Status, v.Message))
	}
	files, err := h.world.effects(p.id)
	if err != nil {
		return err
	}
	did, err := readEffects(files)
	if err != nil {
		return err
	}
	asked := map[string]app.Step{}
	for _, o := range v.Operations {
		if !o.Status.Ended() && !(o.Status == app.OperationPaused) {
			h.book.blame(lostOp, fmt.Sprintf("operation %d (%s of %s) is still %s: %s", o.ID, o.Kind, p.id, o.Status, o.Message))
		}
		steps, err := h.client.steps(ctx, p.id, o.ID)
		if err != nil {
			return err
		}
		h.checkSteps(p.id, o, steps, did, asked)
	}
	for effect := range did.times {
		if _, ok := asked[effect]; !ok {
			h.book.blame(unknown, fmt.Sprintf("%s: the effect %s belongs to no step", p.id, effect))
		}
	}
	for _, late := range did.late(asked, h.clocks.trusts) {
		h.book.blame(oldClaim, late)
	}
	if v.Status == app.ClusterDeleted {
		h.count(v, did)
		h.book.done(p.name)
	}
	return nil
}

// checkSteps compares the steps of an operation with what was done.
func (h *harness) checkSteps(cluster string, o app.Operation, steps []app.Step, did done, asked map[string]app.Step) {
	for _, s := range steps {
		if s.Service == "" || s.Join {
			continue
		}
		effect := effectOf(o.ID, s.ID)
		asked[effect] = s
		n := did.times[effect]
		where := fmt.Sprintf("%s: operation %d (%s), step %s (%s, attempt %d)", cluster, o.ID, o.Kind, s.ID, s.State, s.Attempt)
		switch {
		case n > 1:
			h.book.blame(twice, fmt.Sprintf("%s was done %d times", where, n))
		case n == 0 && s.State == app.StepSucceeded:
			h.book.blame(missing, where+" succeeded without running")
		case o.Status.Ended() && !s.State.Ended() && (o.Status != app.OperationFailed || s.State != app.StepWaiting):
			// What waits for a step that failed may keep waiting: a resume starts there.
			h.book.blame(lostOp, where+" hasn't finished, but its operation has")
		}
	}
}

// count adds a cluster that is gone to the tally.
func (h *harness) count(v appcluster.View, did done) {
	h.tally.effects += did.lines
	for _, o := range v.Operations {
		h.tally.operations[o.Status]++
		h.tally.kinds[o.Kind]++
		h.tally.steps += o.Done
	}
}

// How long machines that no one wants may stay by themselves, and after it was decided that they go.
const (
	strayTime  = 5 * time.Second
	orphanTime = 30 * time.Second
)

// checkMachines compares the machines that exist with those that there should be. What is too much is Muster's to find: an
// account is looked over when a server starts. It must be listed as an orphan that will be deleted by itself; since that
// takes minutes, it is decided here and now, as an admin may, and must then be gone.
func (h *harness) checkMachines(ctx context.Context) error {
	if h.late {
		sleep(ctx, latest)
		h.late = false
	}
	violation, err := h.straysAfter(ctx, strayTime)
	if err != nil || len(violation) == 0 {
		return err
	}
	h.say("%s; restarting the server, which checks for them", count(len(violation), "stray machine"))
	for _, p := range h.system.servers {
		p.kill()
		if err := p.start(ctx); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(orphanTime); ; sleep(ctx, 200*time.Millisecond) {
		if violation, err = h.strays(ctx); err != nil || len(violation) == 0 {
			return err
		}
		for _, s := range violation {
			if err := h.giveUp(ctx, s); err != nil {
				return err
			}
		}
		if time.Now().After(deadline) {
			break
		}
	}
	for _, s := range violation {
		h.book.blame(leaked, s.text)
	}
	return nil
}

// giveUp decides that a stray machine is to go, if Muster lists it as one that would go by itself.
func (h *harness) giveUp(ctx context.Context, s stray) error {
	o, listed, err := h.client.orphan(ctx, s.machine)
	if err != nil || !listed || o.State != fleet.OrphanDue || o.Decision != "" {
		return err
	}
	h.tally.orphans++
	return h.client.deleteOrphan(ctx, o.ID)
}

// stray is a machine that should not be there, or one that should and is not, in words.
type stray struct{ machine, text string }

// straysAfter returns those that are still there after a while.
func (h *harness) straysAfter(ctx context.Context, d time.Duration) (violation []stray, err error) {
	for deadline := time.Now().Add(d); ; sleep(ctx, 100*time.Millisecond) {
		if violation, err = h.strays(ctx); err != nil || len(violation) == 0 || time.Now().After(deadline) {
			return violation, err
		}
	}
}

// strays returns machines that no living cluster owns, and nodes whose machine is not there, in words.
func (h *harness) strays(ctx context.Context) (violation []stray, err error) {
	all, err := h.world.machines()
	if err != nil {
		return nil, err
	}
	byCluster := map[string][]family.Machine{}
	for _, m := range all {
		byCluster[m.Tags[family.TagCluster]] = append(byCluster[m.Tags[family.TagCluster]], m)
	}
	list, err := h.client.clusters(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		machines := byCluster[c.ID]
		delete(byCluster, c.ID)
		if c.Status == app.ClusterDeleted {
			for _, m := range machines {
				violation = append(violation, stray{m.ID, fmt.Sprintf("%s is deleted, but machine %s (node %s) exists", c.ID, m.ID, m.Tags[family.TagNode])})
			}
			continue
		}
		v, err := h.client.cluster(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		violation = append(violation, compare(v, machines)...)
	}
	for _, cluster := range slices.Sorted(maps.Keys(byCluster)) {
		for _, m := range byCluster[cluster] {
			violation = append(violation, stray{m.ID, fmt.Sprintf("machine %s exists for the cluster %q, which doesn't", m.ID, cluster)})
		}
	}
	return violation, nil
}

// compare finds the machines of a living cluster that are too many, and those that are missing.
func compare(v appcluster.View, machines []family.Machine) (violation []stray) {
	byNode := map[string][]string{}
	for _, m := range machines {
		byNode[m.Tags[family.TagNode]] = append(byNode[m.Tags[family.TagNode]], m.ID)
	}
	for _, n := range v.Nodes {
		has := byNode[n.Name]
		delete(byNode, n.Name)
		wants := n.Status == app.NodeCreated || n.Status == app.NodeReady
		if wants && !slices.Contains(has, n.MachineID) {
			violation = append(violation, stray{n.MachineID, fmt.Sprintf("%s: machine %s of node %s doesn't exist", v.ID, n.MachineID, n.Name)})
		}
		for i, id := range has {
			switch {
			case wants && id != n.MachineID:
				violation = append(violation, stray{id, fmt.Sprintf("%s: node %s has %s next to its own %s", v.ID, n.Name, id, n.MachineID)})
			case n.Status == app.NodeDeleted:
				violation = append(violation, stray{id, fmt.Sprintf("%s: node %s was released but has %s", v.ID, n.Name, id)})
			case !wants && i > 0:
				violation = append(violation, stray{id, fmt.Sprintf("%s: node %s has %s next to %s", v.ID, n.Name, id, has[0])})
			}
		}
	}
	for _, node := range slices.Sorted(maps.Keys(byNode)) { // that an update gave back
		for _, id := range byNode[node] {
			violation = append(violation, stray{id, fmt.Sprintf("%s: node %s is gone, but its machine %s exists", v.ID, node, id)})
		}
	}
	return violation
}
