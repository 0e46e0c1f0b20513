package ledger

import (
	"cmp"
	"slices"
	"time"

	"muster/app"
	"muster/app/execution"
)

// maxLostTries is how often a step's worker may vanish: then it is left to a person rather than to yet another worker.
// Restarts of a server count too, since no one knows whether the step was why it ended.
const maxLostTries = 10

const lostText = "The worker stopped responding."

// Holds reports whether a worker holds a step by this fence.
func (s *Set) Holds(w app.WorkerID, f app.Fence) bool {
	o, st := s.ops[f.Operation], s.steps[Key{f.Operation, f.Index}]
	return o != nil && st != nil && o.Tenant == w.Tenant && st.State == app.StepRunning && st.Worker == w.Name && st.Attempt == f.Attempt
}

// Finish ends an attempt; its operation and step have been added, if they exist. With f.ClaimFor the worker wants the
// node's next step, which is found by Handed and the tag after Settle. It tells false where the fence does not hold. Then
// it is stale, unless Handed has a step for it after Settle: one that was handed out in an answer that was lost.
func (s *Set) Finish(w app.WorkerID, f execution.Finish, tag int) bool {
	want := handoff{w.Name, f.Now.Add(f.ClaimFor), tag}
	st := s.steps[Key{f.Fence.Operation, f.Fence.Index}]
	if !s.Holds(w, f.Fence) {
		o := s.ops[f.Fence.Operation]
		if f.ClaimFor > 0 && f.Err == nil && o != nil && st != nil && o.Tenant == w.Tenant && st.State == app.StepSucceeded &&
			st.Worker == w.Name && st.Attempt == f.Fence.Attempt {
			n := s.nodeOf(st)
			s.again = append(s.again, again{n, want})
			s.touch(n)
		}
		return false
	}
	n := s.nodeOf(st)
	s.touch(n)
	if f.ClaimFor > 0 {
		s.handoffs[n] = want
	}
	switch {
	case f.Err == nil:
		s.fire(st, succeeded)
		s.done = append(s.done, st.Key())
		s.tell(st, "")
	case s.ops[st.Operation].Status == app.OperationCancelling:
		s.setBack(st, cancelled, f.Err.Code, f.Err.ForPeople())
	case f.Retry.Again:
		s.setBack(st, failedAgain, f.Err.Code, f.Err.ForPeople())
		if f.Retry.Free && st.Tries > 0 {
			st.Tries-- // nothing was tried
		}
		if f.Retry.After > 0 {
			st.NotBefore = f.Now.Add(min(f.Retry.After, FarFuture))
		}
	default:
		s.setBack(st, failedGood, f.Err.Code, f.Err.Advised())
	}
	return true
}

// setBack ends an attempt that did not succeed.
func (s *Set) setBack(st *Step, e StepEvent, code app.Code, text string) {
	s.fire(st, e)
	st.Worker, st.ErrorCode, st.Error, st.NotBefore = "", code, text, time.Time{}
	s.tell(st, text)
}

// Lose takes a running step back whose worker cannot be heard.
func (s *Set) Lose(st *Step) {
	e := claimLost
	switch {
	case s.ops[st.Operation].Status == app.OperationCancelling:
		e = cancelled
	case st.Tries >= maxLostTries:
		e = failedGood
	}
	s.touch(s.nodeOf(st))
	s.setBack(st, e, app.ETimeout, lostText)
}

// Sweep takes a step back whose claim ran out, or lets one continue whose back-off is over. It reports whether it did.
func (s *Set) Sweep(st *Step) bool {
	switch {
	case st.State == app.StepRunning && (st.Deadline.Before(s.now) || far(st.Deadline, s.now)):
		s.Lose(st)
	case st.State == app.StepReady && (!st.NotBefore.After(s.now) || far(st.NotBefore, s.now)):
		return s.EndBackOff(st)
	case st.State == app.StepAsked:
		return s.sweepAsked(st)
	default:
		return false
	}
	return true
}

// EndBackOff lets a step that waits for a retry continue, whenever that was to be. It returns whether it waited.
func (s *Set) EndBackOff(st *Step) bool {
	if st.State != app.StepReady || st.NotBefore.IsZero() {
		return false
	}
	s.fire(st, due)
	st.NotBefore = time.Time{}
	s.offer(st)
	return true
}

// Claim hands a queued step to a worker. It tells false where it is not queued any more.
func (s *Set) Claim(st *Step, worker string, until time.Time) bool {
	if st.State != app.StepQueued {
		return false
	}
	s.claim(st, handoff{worker, until, -1})
	return true
}

func (s *Set) claim(st *Step, w handoff) {
	s.fire(st, claimed)
	st.Attempt++
	st.Tries++
	st.Worker, st.Deadline, st.StartedAt = w.worker, w.until, s.now
	st.EndedAt, st.NotBefore, st.Error, st.ErrorCode = time.Time{}, time.Time{}, "", ""
	s.hand(st, w)
	s.tell(st, "")
}

func (s *Set) hand(st *Step, w handoff) {
	if st.Epoch == 0 { // else it was handed out by this very set
		st.Epoch = s.ops[st.Operation].epoch()
		s.claimed = append(s.claimed, st)
	}
	if w.tag >= 0 {
		s.handed[w.tag] = st
	}
}

// handAgain returns once more the step of a node that a worker was handed in an answer which it never got.
func (s *Set) handAgain(a again) {
	for _, st := range s.nodes[a.node] {
		if st.State == app.StepRunning && st.Worker == a.worker {
			st.Deadline = a.until
			s.change(st)
			s.hand(st, a.handoff)
			return
		}
	}
}

// mayAcceptPartial reports whether an operation may keep a slot that it had: no other one of the tenant that has steps queued has
// fewer running.
func (s *Set) mayAcceptPartial(o *Operation) bool {
	for _, r := range s.contenders[o.Tenant] {
		if r.Operation != o.ID && r.Running < o.Running {
			return false
		}
	}
	return true
}

// Share divides a number of slots among operations that have steps queued: each next slot goes to the one with the fewest
// running, among equals to the one that comes first in the order given. It returns how many each gets.
func Share(ops []*Operation, slots int) []int {
	type place struct{ at, running, left int }
	var places []place
	for i, o := range ops {
		if o.Queued > 0 && o.Status == app.OperationRunning {
			places = append(places, place{i, o.Running, o.Queued})
		}
	}
	got := make([]int, len(ops))
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.running, b.running) })
	// Fill up like water: those at the lowest level get one each, until they stand as high as the next.
	for level := 0; slots > 0 && len(places) > 0; level++ {
		if level < places[0].running {
			level = places[0].running
		}
		rest := places[:0]
		for _, p := range places {
			if p.running <= level && slots > 0 {
				got[p.at]++
				slots--
				p.running++
				p.left--
			}
			if p.left > 0 {
				rest = append(rest, p)
			}
		}
		places = rest
		slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.running, b.running) })
	}
	return got
}
