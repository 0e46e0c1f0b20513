package cluster

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/window"
)

// Schedule makes it a request that waits for its maintenance window only, with what is needed to run it then.
func (n *NewRequest) Schedule(k RequestPayload, w window.Opening) {
	r := &n.Request
	r.Status, r.Window, n.Kept, r.Terms.Seal, r.DueAt = RequestScheduled, &w, &k, k.Seal(), w.Due()
}

// checkScheduled refuses what can't be done to a request that waits for its window, and what can be done only then.
func (r Request) checkScheduled(act RequestAct) error {
	switch act {
	case RequestWithdraw, RequestReconcile, RequestLapse:
		return nil
	case RequestStart, RequestRunNow:
		if r.Status != RequestScheduled {
			return &app.Error{Code: app.EConflict, Reason: "not_scheduled", Message: fmt.Sprintf("Request %d isn't waiting for a maintenance window.", r.ID),
				Hint: "It needs " + r.approvers() + " first."}
		}
		return nil
	}
	if r.Status != RequestScheduled {
		return nil
	}
	return &app.Error{Code: app.EConflict, Reason: "scheduled", Message: fmt.Sprintf("Request %d needs no decision: it waits for the maintenance window.", r.ID),
		Hint: "Have it run now, or withdraw it."}
}

// start runs a request, or has it wait on, for a window that m names or until another try in this one.
func (r *Request) start(m RequestMove) (o RequestOutcome) {
	if w := m.Window; w != nil && w.Start.Equal(r.Window.Start) && r.DueAt.Equal(w.Due()) && m.Reason == r.Message {
		return RequestOutcome{Nothing: true}
	}
	if m.Window == nil {
		o.Notices = []app.Notice{r.toRequester(m.Now, r.about("Started"), "Its maintenance window is open: "+r.Window.Text()+".")}
	}
	o.Run = true
	return o
}

// schedule has a request wait for a window. People hear of it where it is another one than they know of.
func (r *Request) schedule(m RequestMove) []app.Notice {
	was := r.Window
	r.Status, r.Window, r.ExpiresAt, r.Message = RequestScheduled, m.Window, time.Time{}, ""
	if m.Act == RequestStart {
		r.Message = m.Reason
	}
	if was != nil && was.Start.Equal(m.Window.Start) {
		return nil
	}
	what, text := "Waiting for the maintenance window", m.Window.Text()+". "+r.Message
	switch {
	case was != nil:
		what = "Moved to another maintenance window"
	case m.Act == RequestApprove:
		what, text = "Approved", fmt.Sprintf("%s approved your request. It waits for the maintenance window: %s. %s", m.Who.Name(), m.Window.Text(), m.Reason)
	}
	return []app.Notice{r.toRequester(m.Now, r.about(what), strings.TrimSpace(text))}
}

// runNow lets it run before its window. Whether the actor may is up to the caller.
func (r *Request) runNow(m RequestMove) (o RequestOutcome, err error) {
	if utf8.RuneCountInString(m.Reason) < leastReason {
		return o, &app.Error{Code: app.EInvalid, Field: "reason", Message: "A reason is required to run a change before its maintenance window.",
			Hint: "Say why it can't wait. The requester and the audit log see it."}
	}
	if err := r.shown(m.PlanHash, r.Terms, true); err != nil {
		return o, err
	}
	r.Message = fmt.Sprintf("%s started it before its maintenance window: %s", m.Who.Name(), m.Reason)
	n := r.notice(app.NoticeApproval, m.Now, r.about("Started before the maintenance window"), r.Message)
	n.Users = []string{r.Requester}
	return RequestOutcome{Run: true, Notices: []app.Notice{n}}, nil
}
