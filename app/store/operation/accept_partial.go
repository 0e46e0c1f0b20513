package operation

import (
	"context"
	"fmt"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/operation"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/ledger"
)

// PartialResultsDue implements operation.PartialStore. What is due is in an index of its own, which is empty nearly always, so that it can be asked
// for every second.
func (s *Store) PartialResultsDue(ctx context.Context, limit int) (ops []app.Operation, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var o cluster.OperationRow
		err := row.Scan(o.Dest()...)
		ops = append(ops, o.Operation())
		return err
	}, `SELECT `+cluster.OperationColumns+` FROM operations o WHERE o.on_failure IN ('accept_partial', 'accept_partial_or_roll_back') AND o.status = 'failed' AND o.followed_by = 0
		AND o.evaluated_at < o.ended_at ORDER BY o.id LIMIT ?`, limit)
	return ops, err
}

// JudgePartial implements operation.PartialStore. It happens once for each time that the operation fails.
func (s *Store) JudgePartial(ctx context.Context, j operation.PartialJudgement) (judged bool, err error) {
	o := j.Operation
	err = s.Write(ctx, func(t *db.Tx) error {
		why := "Can't accept the partial result: " + j.Why
		back := o.OnFailure == app.FailureAcceptPartialOrRollBack
		choice := o.OnFailure
		if back {
			why += " The operation is being rolled back."
			choice = app.FailureRollBack
		}
		o.Message = joinedSentences(o.Message, why)
		n, err := t.Count(`UPDATE operations SET evaluated_at = ended_at, message = ?, on_failure = ? WHERE id = ? AND tenant = ? AND status = 'failed'
			AND followed_by = 0 AND ended_at = ? AND evaluated_at < ended_at`, o.Message, string(choice), o.ID, o.Tenant, db.Micros(o.EndedAt))
		if judged = n > 0; err != nil || !judged {
			return err
		}
		kept, err := cluster.ReadOperation(t, o.ID)
		if err != nil {
			return err
		}
		if err := ledger.OperationEvent(t, j.Now, &kept); err != nil {
			return err
		}
		c, err := cluster.Scan(t.Row(`SELECT `+cluster.Columns+` FROM clusters c WHERE c.id = ?`, o.Cluster))
		if err := cluster.ReadError(err, o.Cluster); err != nil {
			return err
		}
		if err := ledger.SetCluster(t, j.Now, o.Tenant, o.Cluster, c.Status, o.Message); err != nil {
			return err
		}
		return t.Notice(app.Notice{At: j.Now, Tenant: o.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
			Title: fmt.Sprintf("%s can't continue with a partial result.", c.Name), Text: why})
	})
	return judged, err
}

// joinedSentences puts one behind the other.
func joinedSentences(a, b string) string {
	if a == "" {
		return b
	}
	if last := a[len(a)-1]; last != '.' && last != ')' {
		a += "."
	}
	return a + " " + b
}

// checkAcceptPartial refuses to continue with what has not failed, has run again since it was looked at, or was followed by something else, and a
// plan that does not give back each node that leaves.
func checkAcceptPartial(t *db.Tx, n appcluster.NewOperation) error {
	op := n.Operation
	of, err := cluster.ReadOperation(t, op.Accepts)
	if err != nil {
		return err
	}
	if of.Cluster != op.Cluster || of.Tenant != op.Tenant {
		return app.Errorf(app.ENotFound, "Operation %d doesn't exist.", op.Accepts)
	}
	later, err := later(t, of)
	if err != nil {
		return err
	}
	switch {
	case later != nil:
		return &app.Error{Code: app.EConflict, Reason: "not_the_latest",
			Message: fmt.Sprintf("Operation %d's partial result can't be accepted any more: operation %d (%s) has followed.", of.ID, later.ID, later.Kind)}
	case of.Status != app.OperationFailed || !of.EndedAt.Equal(n.AsOf):
		return &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: fmt.Sprintf("Operation %d has run again since the preview.", of.ID),
			Hint: "Preview again, then submit."}
	case n.Change == nil:
		return app.Errorf(app.EInternal, "the acceptance of operation %d's partial result has no change of the cluster", of.ID)
	}
	back := map[string]bool{}
	for _, s := range n.Plan.Steps {
		back[s.Node] = back[s.Node] || s.Action == app.ActionDelete
	}
	for _, node := range n.Change.Leaving {
		if !back[node] {
			return app.Errorf(app.EInternal, "the acceptance of operation %d's partial result doesn't delete %s", of.ID, node)
		}
	}
	return nil
}

// beginAcceptPartial notes that a failed operation is gone on with, also should that be called off, and tells people. The change is written.
func beginAcceptPartial(t *db.Tx, op app.Operation, n appcluster.NewOperation) error {
	if op.Kind != app.OperationAcceptPartial {
		return nil
	}
	if err := t.Exec(`UPDATE operations SET evaluated_at = ended_at WHERE id = ?`, op.Accepts); err != nil {
		return err
	}
	c, err := cluster.Scan(t.Row(`SELECT `+cluster.Columns+` FROM clusters c WHERE c.id = ?`, op.Cluster))
	if err := cluster.ReadError(err, op.Cluster); err != nil {
		return err
	}
	lost := n.Change.Leaving
	text := fmt.Sprintf("No machine for %s.", appcluster.NodesInWords(lost))
	if op.NoBackfill {
		text += " Muster won't retry."
	} else {
		text += " Muster will retry later."
	}
	return t.Notice(app.Notice{At: op.CreatedAt, Tenant: op.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
		Title: fmt.Sprintf("%s continues with %d of %d nodes.", c.Name, n.Change.Size, n.Change.Size+len(lost)), Text: text})
}
