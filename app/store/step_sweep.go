package store

import (
	"context"
	"time"

	"muster/app"
)

const (
	sweepLimit = 500 // steps moved by one sweep; the next one takes the rest
	// A step whose worker vanished again and again is left to a person rather than to yet another worker.
	// Restarts of a server count too, since nobody knows whether the step was why it ended.
	maxLostTries = 10
	// No claim and no back-off is as long as this: such a time was written before the clock was set back.
	farFuture = time.Hour

	isLost = `state = 'running' AND (deadline < ? OR deadline > ?)`
	isDue  = `state = 'ready' AND not_before > 0 AND (not_before <= ? OR not_before > ?)`
)

// SweepSteps implements app.Ledger.
func (s *Store) SweepSteps(ctx context.Context, now time.Time) (moved int, err error) {
	// Look with a reader first: an idle installation writes nothing.
	var any bool
	far := micros(now.Add(farFuture))
	err = s.reads.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM steps WHERE `+isLost+`) OR EXISTS (SELECT 1 FROM steps WHERE `+isDue+`)`,
		micros(now), far, micros(now), far).Scan(&any)
	if err != nil || !any {
		return 0, err
	}
	err = s.write(ctx, func(t *tx) error {
		moved = 0
		n, err := t.takeBack(now, isLost, micros(now), far)
		if err != nil {
			return err
		}
		moved += n
		n, err = t.queueDue(now)
		moved += n
		return err
	})
	return moved, err
}

// ReleaseClaims implements app.Ledger.
func (s *Store) ReleaseClaims(ctx context.Context, prefix string, now time.Time) (moved int, err error) {
	err = s.write(ctx, func(t *tx) error {
		moved = 0
		for {
			n, err := t.takeBack(now, "state = 'running' AND substr(worker, 1, length(?)) = ?", prefix, prefix)
			moved += n
			if err != nil || n == 0 {
				return err
			}
		}
	})
	return moved, err
}

// takeBack ends the attempts of running steps (where says which): their worker is gone or cannot be heard.
func (t *tx) takeBack(now time.Time, where string, args ...any) (int, error) {
	var lost []app.Step
	err := t.each(func(row scanner) error {
		st, err := scanStep(row)
		lost = append(lost, st)
		return err
	}, `SELECT `+stepColumns+` FROM steps WHERE `+where+` ORDER BY deadline LIMIT ?`, append(args, sweepLimit)...)
	if err != nil {
		return 0, err
	}
	for _, st := range lost {
		o, err := t.operation(st.Operation)
		if err != nil {
			return 0, err
		}
		const text = "The worker that carried this out was not heard of any more."
		state := app.StepReady
		switch {
		case o.op.Status != app.OperationRunning:
			state = app.StepDropped
		case st.Tries >= maxLostTries:
			state = app.StepFailed
		}
		if err := t.setBack(now, o, st, state, time.Time{}, app.ETimeout, text); err != nil {
			return 0, err
		}
		if err := t.queueNode(now, o.op.Cluster, st.Node); err != nil {
			return 0, err
		}
		if err := t.settle(now, o); err != nil {
			return 0, err
		}
	}
	return len(lost), nil
}

// queueDue queues ready steps whose back-off is over.
func (t *tx) queueDue(now time.Time) (int, error) {
	type place struct{ cluster, node string }
	var due []place
	// Once due, a step waits for its node like any other: whoever frees the node queues it.
	err := t.each(func(row scanner) error {
		var p place
		err := row.Scan(&p.cluster, &p.node)
		due = append(due, p)
		return err
	}, `UPDATE steps SET not_before = 0 WHERE (operation, idx) IN (SELECT operation, idx FROM steps WHERE `+isDue+` LIMIT ?)
		RETURNING cluster, node`, micros(now), micros(now.Add(farFuture)), sweepLimit)
	if err != nil {
		return 0, err
	}
	for _, p := range due {
		if err := t.queueNode(now, p.cluster, p.node); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}
