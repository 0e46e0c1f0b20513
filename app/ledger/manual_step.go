package ledger

import (
	"time"

	"muster/app"
	"muster/app/humanize"
)

// offer puts a ready step where someone takes it: before the person who is asked, or in the line of its node. While the
// operation is paused no one is asked; its resume offers it again.
func (s *Set) offer(st *Step) {
	switch {
	case st.AskFor == 0:
		s.touch(s.nodeOf(st))
	case s.ops[st.Operation].Status == app.OperationRunning:
		s.ask(st)
	}
}

// ask begins an attempt that a person makes. It has a number of its own, as every attempt has, which the answer names. It takes no
// worker, no slot and not the node.
func (s *Set) ask(st *Step) {
	s.fire(st, asked)
	st.Attempt++
	st.Tries++
	st.Worker, st.Deadline, st.StartedAt = "", s.now.Add(st.AskFor), s.now
	st.EndedAt, st.NotBefore, st.Error, st.ErrorCode = time.Time{}, time.Time{}, "", ""
	s.tell(st, "")
}

// Answer ends what a person was asked: it continues, or, with a reason, it has failed for good. It tells false where that attempt is
// not asked any more.
func (s *Set) Answer(st *Step, attempt int, refused string) bool {
	if st.State != app.StepAsked || st.Attempt != attempt {
		return false
	}
	if refused != "" {
		s.setBack(st, refusal, app.ECancelled, refused)
		return true
	}
	s.acceptPartial(st)
	return true
}

func (s *Set) acceptPartial(st *Step) {
	s.fire(st, answered)
	s.done = append(s.done, st.Key())
	s.tell(st, "")
}

// sweepAsked ends a question that no one has answered in time. A deadline that no question can have was written before the clock was
// set back: the person gets the whole time again, since to fail would be worse than to wait.
func (s *Set) sweepAsked(st *Step) bool {
	switch {
	case st.Deadline.After(s.now.Add(st.AskFor + FarFuture)):
		st.Deadline = s.now.Add(st.AskFor)
		s.change(st)
	case st.Deadline.After(s.now):
		return false
	case st.AcceptPartial:
		s.acceptPartial(st)
	default:
		s.setBack(st, refusal, app.ETimeout, "No answer within "+humanize.Duration(st.AskFor)+".")
	}
	return true
}
