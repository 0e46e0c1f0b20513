package execution

import (
	"context"
	"time"

	"muster/app"
	"muster/app/ledger"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
)

const (
	sweepLimit = 500 // steps moved by one sweep; the next one takes the rest
	// farFuture is as far ahead as nothing is meant to be: see ledger.FarFuture.
	farFuture = ledger.FarFuture
	// clockSlack is by how much a clock may be corrected between two sweeps without having been set back.
	clockSlack = 5 * time.Second

	// These find what may be lost or due; the rules say whether it is.
	isLost = `state = 'running' AND (deadline < ? OR deadline > ?)`
	isDue  = `state = 'ready' AND not_before > 0 AND (not_before <= ? OR not_before > ?)`
	waits  = `state = 'ready' AND not_before > 0`
	// isOverdue finds questions that no one has answered in time.
	isOverdue = `state = 'asked' AND (deadline <= ? OR deadline - ask_for > ?)`
	isRemind  = `remind_at > 0 AND remind_at <= ?`
)

// SweepSteps takes back claims that ran out, and queues ready steps whose time has come. It returns how many moved.
func (s *Store) SweepSteps(ctx context.Context, now time.Time) (moved int, err error) {
	// Look with a reader first: an idle installation writes nothing.
	var any bool
	far := db.Micros(now.Add(farFuture))
	// Back-offs that were worked out by a clock that has been set back since would last too long by as much, so they end now.
	setBack := s.swept.Load() > db.Micros(now.Add(clockSlack))
	defer func() {
		if err == nil && (!setBack || moved < sweepLimit) {
			s.swept.Store(db.Micros(now))
		}
	}()
	err = s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM steps WHERE `+isLost+`) OR EXISTS (SELECT 1 FROM steps WHERE `+isDue+`)
		OR EXISTS (SELECT 1 FROM steps WHERE `+isOverdue+`) OR EXISTS (SELECT 1 FROM manual_steps WHERE `+isRemind+`)`,
		db.Micros(now), far, db.Micros(now), far, db.Micros(now), far, db.Micros(now)).Scan(&any)
	if err != nil || !any && !setBack {
		return 0, err
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		moved = 0
		if setBack {
			n, err := moveFound(t, now, (*ledger.Set).EndBackOff, waits)
			if err != nil {
				return err
			}
			moved += n
		}
		for _, which := range []string{isLost + ` ORDER BY deadline`, isDue, isOverdue + ` ORDER BY deadline`} {
			n, err := moveFound(t, now, (*ledger.Set).Sweep, which, db.Micros(now), far)
			if err != nil {
				return err
			}
			moved += n
		}
		return remind(t, now)
	})
	return moved, err
}

// ReleaseClaims takes back every claim of workers whose name begins with prefix: their process is known to be gone.
func (s *Store) ReleaseClaims(ctx context.Context, prefix string, now time.Time) (moved int, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		moved, err = release(t, now, `substr(worker, 1, length(?)) = ?`, prefix, prefix)
		return err
	})
	return moved, err
}

// ReleaseWorkers is ReleaseClaims for workers by their whole names.
func (s *Store) ReleaseWorkers(ctx context.Context, names []string, now time.Time) (moved int, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		moved = 0
		return db.InChunks(len(names), func(from, size int) error {
			args := make([]any, size)
			for i := range size {
				args[i] = names[from+i]
			}
			n, err := release(t, now, `worker IN (`+db.Repeated(`?`, size)+`)`, args...)
			moved += n
			return err
		})
	})
	return moved, err
}

// release takes back the claims of the workers that a condition finds.
func release(t *db.Tx, now time.Time, who string, args ...any) (moved int, err error) {
	for {
		n, err := moveFound(t, now, lose, `state = 'running' AND `+who, args...)
		moved += n
		if err != nil || n == 0 {
			return moved, err
		}
	}
}

func lose(set *ledger.Set, st *ledger.Step) bool {
	if st.State != app.StepRunning {
		return false
	}
	set.Lose(st)
	return true
}

// moveFound moves the steps that a condition finds, as many as a sweep may, and returns how many moved.
func moveFound(t *db.Tx, now time.Time, move func(*ledger.Set, *ledger.Step) bool, where string, args ...any) (moved int, err error) {
	var keys []ledger.Key
	err = t.Each(func(row db.Scanner) error {
		var k ledger.Key
		err := row.Scan(&k.Operation, &k.Index)
		keys = append(keys, k)
		return err
	}, `SELECT operation, idx FROM steps WHERE `+where+` LIMIT ?`, append(args, sweepLimit)...)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	set := ledger.New(now)
	if err := ledgerdb.AddSteps(t, set, keys); err != nil {
		return 0, err
	}
	for _, k := range keys {
		if st := set.Step(k); st != nil && move(set, st) {
			moved++
		}
	}
	if err := set.Settle(ledgerdb.Rows(t)); err != nil {
		return 0, err
	}
	return moved, ledgerdb.Save(t, now, set)
}
