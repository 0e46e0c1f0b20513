package execution

import (
	"context"
	"slices"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/ledger"
	"muster/app/quarantine"
	"muster/app/store/cluster"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
	"muster/app/store/operation"
	"muster/app/store/policy"
	"muster/app/store/receipt"
	"muster/app/store/run"
	"muster/app/store/volume"
)

// finishCall is one call of FinishSteps in progress.
type finishCall struct {
	worker app.WorkerID
	fs     []execution.Finish
	out    []execution.Finished
}

func (s *Store) FinishSteps(ctx context.Context, w app.WorkerID, fs []execution.Finish) ([]execution.Finished, error) {
	if len(fs) == 0 {
		return []execution.Finished{}, nil
	}
	c := &finishCall{worker: w, fs: fs}
	err := s.finishes.Do(ctx, s.DB, c)
	if err == nil {
		return c.out, nil
	}
	if app.CodeOf(err) != app.EInternal || len(fs) == 1 {
		return nil, err
	}
	// One of them goes wrong, and must not keep the others.
	out := make([]execution.Finished, len(fs))
	for i := range fs {
		one := &finishCall{worker: w, fs: fs[i : i+1]}
		if err := s.finishes.Do(ctx, s.DB, one); err != nil {
			out[i].Err = app.AsError(err)
		} else {
			out[i] = one.out[0]
		}
	}
	return out, nil
}

// finish ends the attempts of some calls, all in one set.
func (s *Store) finish(t *db.Tx, calls []*finishCall) error {
	now := calls[0].fs[0].Now
	set := ledger.New(now)
	var keys []ledger.Key
	for _, c := range calls {
		for _, f := range c.fs {
			keys = append(keys, ledger.Key{Operation: f.Fence.Operation, Index: f.Fence.Index})
		}
	}
	if err := ledgerdb.AddSteps(t, set, keys); err != nil {
		return err
	}
	if err := addContenders(t, set, calls); err != nil {
		return err
	}
	nodes := ledgerdb.NewNodeSet(now)
	took := policy.Pacing{}
	var held []bool
	var created []*ledger.Step
	for _, c := range calls {
		for _, f := range c.fs {
			if set.Holds(c.worker, f.Fence) {
				var err error
				if f, err = noteFull(t, set, set.Step(ledger.Key{Operation: f.Fence.Operation, Index: f.Fence.Index}), f); err != nil {
					return err
				}
				if len(f.Fallbacks) > 0 {
					if f, err = fallBack(t, set, f); err != nil {
						return err
					}
				}
			}
			ok := set.Finish(c.worker, f, len(held))
			held = append(held, ok)
			if !ok {
				continue
			}
			st := set.Step(ledger.Key{Operation: f.Fence.Operation, Index: f.Fence.Index})
			if st.Action == app.ActionCreate && f.Err == nil && !f.Pooled {
				created = append(created, st)
			}
			took.Note(set, st, f)
			if err := s.noteFinish(t, set, st, f, nodes); err != nil {
				return err
			}
		}
	}
	if err := set.Settle(ledgerdb.Rows(t)); err != nil {
		return err
	}
	next, err := s.assignNext(t, now, set, nodes)
	if err != nil {
		return err
	}
	if err := noteCreated(t, now, set, nodes, created); err != nil {
		return err
	}
	if err := ledgerdb.SaveNodes(t, nodes); err != nil {
		return err
	}
	if err := policy.SaveDurationStats(t, now, took); err != nil {
		return err
	}
	if err := ledgerdb.Save(t, now, set); err != nil {
		return err
	}
	tag := 0
	for _, c := range calls {
		c.out = make([]execution.Finished, len(c.fs))
		for i, f := range c.fs {
			if st := set.Handed(tag); st != nil {
				c.out[i].Next = next[st.Key()]
			} else if !held[tag] {
				c.out[i].Err = app.Errorf(app.EStale, "Attempt %d of step %d of operation %d no longer belongs to this worker.",
					f.Fence.Attempt, f.Fence.Index, f.Fence.Operation)
			}
			tag++
		}
	}
	return nil
}

// noteFinish keeps what an attempt found out about its node.
func (s *Store) noteFinish(t *db.Tx, set *ledger.Set, st *ledger.Step, f execution.Finish, nodes *ledgerdb.NodeSet) error {
	o := set.Operation(st.Operation)
	if err := keepNodeReport(t, o.Tenant, o.Cluster, st, f); err != nil {
		return err
	}
	if err := keepFacts(t, s.DB, o.Tenant, o.Cluster, st, f); err != nil {
		return err
	}
	if err := keepChanges(t, o.Tenant, o.Cluster, st, f); err != nil {
		return err
	}
	if st.Action == app.ActionRun {
		if err := run.SaveExit(t, o.Tenant, o.ID, st.Index, f.Exit, f.Cut); err != nil {
			return err
		}
	}
	if err := volume.Note(t, f.Now, o.Tenant, o.Cluster, st.Node, f.Volumes); err != nil {
		return err
	}
	if f.Err == nil && st.Action == app.ActionDetach {
		if err := volume.ServicesGone(t, f.Now, o.Tenant, o.Cluster, st.Node, o.ID); err != nil {
			return err
		}
	}
	if err := keepImage(t, o.Tenant, o.Cluster, st, f); err != nil {
		return err
	}
	n := ledger.Node{Cluster: o.Cluster, Name: st.Node}
	if err := receipt.NoteNode(t, f.Now, n.Cluster, n.Name, f.Seen); err != nil {
		return err
	}
	if f.Keep != nil && f.Err != nil && st.Action == app.ActionConfirm && st.State == app.StepReady {
		if err := operation.KeepMachine(t, f.Now, *f.Keep, app.NodeCreated); err != nil && !quarantine.Refused(err) {
			return err
		}
	}
	if f.Unasked && st.Action == app.ActionCreate {
		if err := receipt.NotAsked(t, n.Cluster, n.Name); err != nil {
			return err
		}
	}
	if f.Err == nil && f.Node != nil {
		stays, err := stays(t, o, *f.Node)
		if err != nil {
			return err
		}
		if f.Node.Deleted {
			if err := volume.NodeGone(t, f.Now, o.Tenant, o.Cluster, st.Node, o.ID); err != nil {
				return err
			}
		}
		nodes.Update(n, o.Tenant, stays, *f.Node)
	}
	return nil
}

// stays tells of a machine that an operation gave back whether the operation leaves a cluster without it.
func stays(t *db.Tx, o *ledger.Operation, u execution.NodeUpdate) (bool, error) {
	if !u.Deleted || o.Kind == app.OperationDelete {
		return false, nil
	}
	undone, err := ledgerdb.Undone(t, o)
	return undone != app.OperationCreate, err
}

// addContenders tells the set of operations that wait for slots, where a worker wants to keep one.
func addContenders(t *db.Tx, set *ledger.Set, calls []*finishCall) error {
	done := map[string]bool{}
	for _, c := range calls {
		wants := false
		for _, f := range c.fs {
			wants = wants || f.ClaimFor > 0
		}
		if !wants || done[c.worker.Tenant] {
			continue
		}
		done[c.worker.Tenant] = true
		var contenders []ledger.Contender
		err := t.Each(func(row db.Scanner) error {
			var r ledger.Contender
			err := row.Scan(&r.Operation, &r.Running)
			contenders = append(contenders, r)
			return err
		}, `SELECT id, running FROM operations WHERE tenant = ? AND queued > 0 ORDER BY running, queue_order, id LIMIT 2`, c.worker.Tenant)
		if err != nil {
			return err
		}
		set.Compete(c.worker.Tenant, contenders)
	}
	return nil
}

// assignNext gathers what belongs to the steps that a set claimed.
func (s *Store) assignNext(t *db.Tx, now time.Time, set *ledger.Set, nodes *ledgerdb.NodeSet) (map[ledger.Key]*execution.ClaimedStep, error) {
	claimed := set.Claimed()
	if err := ledgerdb.LoadNodes(t, nodes, set, claimed); err != nil {
		return nil, err
	}
	if err := ledgerdb.EndGone(t, nodes); err != nil {
		return nil, err
	}
	clusters, err := clustersOf(t, set, claimed)
	if err != nil {
		return nil, err
	}
	out := make(map[ledger.Key]*execution.ClaimedStep, len(claimed))
	var creates []*execution.ClaimedStep
	for _, st := range claimed {
		o := set.Operation(st.Operation)
		k := ledger.Node{Cluster: o.Cluster, Name: st.Node}
		c := &execution.ClaimedStep{Tenant: o.Tenant, Step: st.Step, Deadline: db.FromMicros(db.Micros(st.Deadline)), Cluster: clusters[o.Cluster], Epoch: st.Epoch, Trace: o.Trace}
		out[st.Key()] = c
		n := nodes.Of[k]
		if n == nil {
			c.Err = app.Errorf(app.EInternal, "node %s of %s has no row", st.Node, o.Cluster)
			continue
		}
		c.Node, c.Intent = n.Node, n.Intent
		if st.Action == app.ActionConfirm && n.Node.Status == app.NodeCreated && len(n.Secret) > 0 { // which may have to create another machine
			c.HostKey, c.Err = s.Unseal(n.Secret, "nodes/"+k.Cluster+"/"+k.Name)
		}
		if st.Action != app.ActionCreate {
			continue
		}
		// One that does not open must not keep everyone from every other step.
		c.HostKey, c.Err = s.Unseal(n.Secret, "nodes/"+k.Cluster+"/"+k.Name)
		if st.Was != app.StepRunning {
			creates = append(creates, c)
		}
	}
	if err := askFor(t, now, nodes, creates); err != nil {
		return nil, err
	}
	if err := ledgerdb.LoadTries(t, out); err != nil {
		return nil, err
	}
	return out, loadReplacements(t, out)
}

// askFor names the intents under which create steps are to ask for their machines, counts that they do, and hands them the machines that are
// promised to their nodes.
func askFor(t *db.Tx, now time.Time, nodes *ledgerdb.NodeSet, creates []*execution.ClaimedStep) (err error) {
	var live []string
	for _, c := range creates {
		n := nodes.Of[ledger.Node{Cluster: c.Cluster.ID, Name: c.Node.Name}]
		if n.Live {
			c.Unasked = n.Attempts == 0
			live = append(live, n.Intent)
		} else if c.Intent, c.Unasked, err = receipt.AskFor(t, now, c.Cluster.ID, c.Node.Name); err != nil {
			return err
		}
	}
	if err := receipt.CountAsked(t, live); err != nil {
		return err
	}
	creates = slices.DeleteFunc(creates, func(c *execution.ClaimedStep) bool { return !c.Unasked })
	promised, err := promisedTo(t, creates)
	if err != nil {
		return err
	}
	for _, c := range creates {
		if !promised[c.Cluster.ID] {
			continue
		}
		if err := takeReserved(t, now, nodes, c); err != nil {
			return err
		}
	}
	return nil
}

// maxReplacements bounds what is notified of a node's machines.
const maxReplacements = 20

// loadReplacements loads what earlier attempts of confirms have created.
func loadReplacements(t *db.Tx, claimed map[ledger.Key]*execution.ClaimedStep) error {
	for _, c := range claimed {
		if c.Step.Action != app.ActionConfirm || c.TriedAt.IsZero() || c.Node.Status != app.NodeCreated {
			continue
		}
		err := t.Each(func(r db.Scanner) error {
			var id string
			err := r.Scan(&id)
			c.Replacements = append(c.Replacements, id)
			return err
		}, `SELECT id FROM resources WHERE cluster = ? AND created_at >= ? AND node = ? AND kind = ? ORDER BY created_at LIMIT ?`, c.Cluster.ID,
			db.Micros(c.TriedAt), c.Node.Name, fleet.ResourceMachine, maxReplacements)
		if err != nil {
			return err
		}
	}
	return nil
}

// clustersOf loads the clusters of steps.
func clustersOf(t *db.Tx, set *ledger.Set, steps []*ledger.Step) (map[string]app.Cluster, error) {
	var ids []string
	clusters := map[string]app.Cluster{}
	for _, st := range steps {
		id := set.Operation(st.Operation).Cluster
		if _, known := clusters[id]; !known {
			clusters[id] = app.Cluster{}
			ids = append(ids, id)
		}
	}
	err := t.EachOf(func(row db.Scanner) error {
		c, err := cluster.Scan(row)
		clusters[c.ID] = c
		return err
	}, len(ids), `SELECT `+cluster.Columns+` FROM clusters c WHERE c.id IN (`, `?`, `)`, func(args []any, i int) []any { return append(args, ids[i]) })
	return clusters, err
}
