package execution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
)

// explain puts rows into words.
func (f *waitFacts) explain(w *Waiting, rows WaitingRows) {
	w.Running = rows.Running
	for i, g := range rows.Groups {
		w.Total += g.Count
		w.Groups = append(w.Groups, f.group(g, f.why(rows.Example[i], rows)))
	}
	w.Groups = joinGroups(w.Groups)
	said := cluster.RepeatedErrors{}
	for _, s := range rows.Steps {
		if s.NotBefore.After(f.now) { // else its error isn't shown
			s.Error = said.Say(s.ID, s.Error)
		}
		wait := f.why(s, rows)
		wait.Step, wait.Node, wait.Action, wait.Service, wait.State = s.ID, s.Node, s.Action, s.Service, s.State
		w.Steps = append(w.Steps, wait)
	}
	if n := len(rows.Steps); rows.More && n > 0 {
		w.Next = rows.Steps[n-1].Index + 1
	}
	w.Text = f.sentence(w)
}

// joinGroups makes one of groups with the same words, the greatest first.
func joinGroups(groups []WaitGroup) []WaitGroup {
	var out []WaitGroup
	for _, g := range groups {
		if i := slices.IndexFunc(out, func(o WaitGroup) bool { return o.Text == g.Text && o.Reason == g.Reason }); i >= 0 {
			out[i].Count += g.Count
			if g.Until.Before(out[i].Until) {
				out[i].Until = g.Until
			}
			if g.Last.After(out[i].Last) {
				out[i].Last = g.Last
			}
			continue
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b WaitGroup) int { return cmp.Compare(b.Count, a.Count) })
	if out == nil {
		out = []WaitGroup{}
	}
	return out
}

// sentence says the whole.
func (f *waitFacts) sentence(w *Waiting) string {
	kind := humanize.Upper(f.op.Kind.The())
	switch {
	case f.op.Status == app.OperationWaiting || f.op.Status == app.OperationPaused:
		_, text := f.held()
		return text
	case f.op.Status == app.OperationCancelling:
		return fmt.Sprintf("%s is being cancelled: waiting for %s to stop.", kind, humanize.Count(w.Running, "running step"))
	case w.Total == 0:
		return fmt.Sprintf("%s is running: %s in progress, none waiting.", kind, humanize.Count(w.Running, "step"))
	case w.Running == 0 && w.person() != "":
		return kind + " is running. " + w.person()
	case f.noWorkers():
		return f.workersText()
	}
	return fmt.Sprintf("%s is running: %s in progress, %d waiting.", kind, humanize.Count(w.Running, "step"), w.Total)
}

// person returns what a person is asked; "" where no one is.
func (w *Waiting) person() string {
	for _, g := range w.Groups {
		if g.Reason == WaitPerson {
			return g.Text
		}
	}
	return ""
}

// held says why nothing of the operation may start; "" where it may.
func (f *waitFacts) held() (WaitReason, string) {
	switch {
	case f.op.Status == app.OperationWaiting && !f.op.HeldUntil.IsZero():
		return WaitHook, f.op.Message
	case f.op.Status == app.OperationWaiting && f.before != nil:
		return WaitOperation, fmt.Sprintf("Waiting for %s, which %s.", f.before.Kind.The(), app.States[f.before.Status])
	case f.op.Status == app.OperationWaiting:
		return WaitOperation, humanize.Upper(f.op.Kind.The()) + " is about to start."
	case f.overdue != nil:
		return WaitPaused, f.overdue.Text(f.op, f.now)
	case f.op.Status == app.OperationPaused && f.op.Message != "":
		return WaitPaused, f.op.Message + " Resume it to continue."
	case f.op.Status == app.OperationPaused:
		return WaitPaused, humanize.Upper(f.op.Kind.The()) + " is paused. Resume it to continue."
	}
	return "", ""
}

// why explains one step.
func (f *waitFacts) why(s app.Step, rows WaitingRows) Wait {
	w := Wait{}
	if s.State == app.StepWaiting {
		w.Reason = WaitSteps
		w.For, w.Text = needsText(rows.Needs[s.Index])
	}
	if reason, text := f.held(); reason != "" {
		w.Reason, w.Text = reason, text
		return w
	}
	switch s.State {
	case app.StepReady:
		busy, there := rows.Busy[s.Node]
		switch {
		case s.NotBefore.After(f.now):
			w.Until = s.NotBefore
			w.Reason, w.Text = f.backOff(s.ErrorCode, s.NotBefore, s.NotBefore)
			if w.Reason == WaitBackOff {
				w.Text = strings.TrimSuffix(w.Text, ".") + f.attempts(s) + ": " + s.Error
			}
		case there:
			w.Reason, w.For = WaitNode, []string{busy.ID}
			w.Text = fmt.Sprintf("%s is busy with %s, which %s.", s.Node, busy.ID, stateText(busy.State))
		default:
			w.Reason, w.Text = WaitTurn, "About to be queued."
		}
	case app.StepAsked:
		w.Reason = WaitPerson
		w.Text, w.Until = f.asked(s)
	case app.StepQueued:
		w.Position = f.position(rows.Place[s.Index])
		if w.Reason, w.Text = f.queued(s.Action); w.Reason == WaitTurn {
			w.Text = placeText(w.Position)
		} else if w.Reason != WaitWorkers {
			w.Text += " " + placeText(w.Position)
		}
	}
	return w
}

// asked says whom a step waits for, until when, and what that person is asked.
func (f *waitFacts) asked(s app.Step) (string, time.Time) {
	for _, q := range f.questions {
		if q.Index == s.Index {
			then := "then the step fails"
			if q.Person.GoesOn() {
				then = "then the step continues automatically"
			}
			return fmt.Sprintf("Waiting for %s; %s left, %s: %s", q.whoInWords(), humanize.Duration(max(0, q.Until.Sub(f.now))), then, q.Person.Ask), q.Until
		}
	}
	return "Waiting for an answer to a manual step.", time.Time{}
}

// needsText names the steps that one waits for.
func needsText(needs []app.Step) (ids []string, text string) {
	const most = 3
	var parts []string
	for i, n := range needs {
		if i == most {
			parts = append(parts, "more steps")
			break
		}
		ids = append(ids, n.ID)
		parts = append(parts, n.ID+", which "+stateText(n.State))
	}
	if len(parts) == 0 {
		return nil, "All dependencies are done. About to start."
	}
	return ids, "Waits for " + strings.Join(parts, "; ") + "."
}

// stateText is a step's state in a sentence.
func stateText(s app.StepState) string {
	switch s {
	case app.StepWaiting:
		return "is also waiting"
	case app.StepReady, app.StepQueued:
		return "is about to start"
	case app.StepRunning:
		return "is running"
	case app.StepAsked:
		return "is waiting for a person"
	case app.StepFailed:
		return "has failed"
	case app.StepDropped:
		return "was skipped"
	}
	return "is done"
}

// backOff says when steps that failed are tried again: the first and the last of them, which for one step is the same. The budget of an
// account has a time of its own, which isn't shown here: a step is not tried before its own.
func (f *waitFacts) backOff(code app.Code, first, last time.Time) (WaitReason, string) {
	reason, because := WaitBackOff, codeText(code)
	if code == app.ERateLimit && f.budget > 0 {
		reason, because = WaitBudget, "the rate limit of account "+f.account+" is used up"
	}
	begins, ends := humanize.Rough(first.Sub(f.now)), humanize.Rough(last.Sub(f.now))
	if begins == ends {
		return reason, "Retrying in " + begins + ", because " + because + "."
	}
	return reason, "First retry in " + begins + ", last in " + ends + ", because " + because + "."
}

// codeText says what kind of failure a code is.
func codeText(c app.Code) string {
	switch c {
	case app.ECapacity:
		return "the provider had no capacity"
	case app.ERateLimit:
		return "the provider's rate limit was reached"
	case app.ETransient:
		return "a service didn't respond"
	case app.ETimeout:
		return "a call timed out"
	case app.EScript:
		return "its action failed"
	case app.EConflict:
		return "another change was in progress"
	}
	return "an attempt failed"
}

// attempts counts them, and how many there may be where that is known.
func (f *waitFacts) attempts(s app.Step) string {
	if f.tries != nil && s.Action != app.ActionDelete { // which continues until it is done
		if n := f.tries(s.ErrorCode); n > 0 {
			return fmt.Sprintf(" (attempt %d of %d)", s.Tries, n)
		}
	}
	return fmt.Sprintf(" (attempt %d)", s.Tries)
}

// queued says why a step was not taken yet that is in the queue.
func (f *waitFacts) queued(action app.Action) (WaitReason, string) {
	switch busy := f.running(); {
	case f.noWorkers():
		return WaitWorkers, f.workersText()
	case f.budget > 0 && action.AsksProvider():
		return WaitBudget, fmt.Sprintf("The rate limit of account %s is used up for another %s.", f.account, humanize.Rough(f.budget))
	case f.workers != nil && busy >= f.workers.Slots:
		return WaitSlots, fmt.Sprintf("All of the tenant's slots are busy (%d of %d).", busy, f.workers.Slots)
	}
	return WaitTurn, "Queued, about to start."
}

// place says how many go first.
func placeText(position int) string {
	if position <= 1 {
		return "Next in the queue."
	}
	return humanize.Count(position-1, "step") + " ahead in the queue."
}

func (f *waitFacts) noWorkers() bool { return f.workers != nil && f.workers.Slots <= 0 }

func (f *waitFacts) workersText() string {
	if f.workers.Lacks != "" {
		return "No suitable worker: " + humanize.LowerFirst(f.workers.Lacks)
	}
	return "No worker is connected. Start one with muster provisioner, or muster serve --workers."
}

// running counts the tenant's steps that are at work.
func (f *waitFacts) running() int {
	n := 0
	for _, l := range f.lines {
		n += l.Running
	}
	return n
}

// position is the place in the tenant's queue of a step before which so many of its own operation go: workers take from
// the operation that has the fewest steps running; among equals from the one whose turn is first, then from the older.
func (f *waitFacts) position(before int) int {
	at := slices.IndexFunc(f.lines, func(l QueueLine) bool { return l.Operation == f.op.ID })
	if at < 0 {
		return before + 1
	}
	mine := f.lines[at]
	level := mine.Running + before // steps of its own that run when its turn comes
	place := before + 1
	for _, l := range f.lines {
		if l.Operation == mine.Operation || l.Status != app.OperationRunning {
			continue
		}
		turns := level - l.Running
		if l.Turn < mine.Turn || l.Turn == mine.Turn && l.Operation < mine.Operation {
			turns++
		}
		place += min(max(turns, 0), l.Queued)
	}
	return place
}

// group says for what many steps wait: the same for all of them, or by what they do.
func (f *waitFacts) group(g WaitingCount, example Wait) WaitGroup {
	out := WaitGroup{Reason: example.Reason, Text: example.Text, Count: g.Count}
	name := string(g.Action)
	if g.Service != "" {
		name = g.Service + "." + name
	}
	switch reason, text := f.held(); {
	case reason != "":
		out.Reason, out.Text = reason, text
	case g.Code != "":
		out.Reason, text = f.backOff(g.Code, g.Until, g.Last)
		out.Text, out.Until, out.Last = name+": "+humanize.LowerFirst(text), g.Until, g.Last
	case g.State == app.StepQueued:
		out.Reason, out.Text = f.queued(g.Action)
	case example.Reason == WaitPerson && g.Count > 1:
		out.Text = fmt.Sprintf("%s: waiting for people (%s). See muster manual-steps.", name, humanize.Count(g.Count, "question"))
	case example.Reason == WaitNode:
		out.Text = "The nodes are busy with other steps."
	case example.Reason == WaitSteps:
		out.Text = name + ": " + humanize.LowerFirst(example.Text)
	}
	return out
}
