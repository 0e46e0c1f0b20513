package execution

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// notice asks those who may answer.
func (q ManualStep) notice(at time.Time, title string) app.Notice {
	n := app.Notice{At: at, Tenant: q.Tenant, Kind: app.NoticeManualStep, Cluster: q.Cluster, Title: humanize.CutText(family.OneLine(title), 200),
		About: app.ClusterSubject(q.Cluster), Act: q.Subject(), ActionName: "Answer", Groups: q.Person.Groups()}
	if q.Person.Owners() && !q.forbids(q.Owner) {
		n.Users = []string{q.Owner}
	}
	then := "the step fails"
	if q.Person.GoesOn() {
		then = "the step continues automatically"
	}
	n.Text = strings.TrimSpace(q.Person.Help + fmt.Sprintf("\n\nWaiting for %s until %s; then %s.", q.whoInWords(), q.Until.UTC().Format("2 Jan 15:04 UTC"), then))
	return n
}

// AskedNotice is the notice for when the question is asked.
func (q ManualStep) AskedNotice(now time.Time) app.Notice {
	return q.notice(now, q.Title()+": "+q.Person.Ask)
}

// ReminderNotice is the notice for when half of the time is over.
func (q ManualStep) ReminderNotice(now time.Time) app.Notice {
	return q.notice(now, "Still waiting for an answer: "+q.Title()+": "+q.Person.Ask)
}

// OverdueNotice is the notice for when no one has answered in time.
func (q ManualStep) OverdueNotice(now time.Time) app.Notice {
	n := q.notice(now, "Not answered in time: "+q.Title()+": "+q.Person.Ask)
	n.Act, n.ActionName = app.Subject{}, ""
	n.Text = "The step failed. Resume the operation to ask again."
	if q.Person.GoesOn() {
		n.Text = "The step continued without an answer."
	}
	return n
}

// forbids reports whether someone may not answer because of Person.Not.
func (q ManualStep) forbids(user string) bool {
	return q.Person.Not == template.PersonRequester && user == q.Requester
}

// whoInWords names whom the question waits for.
func (q ManualStep) whoInWords() string {
	p := q.Person
	if p.Owners() && q.forbids(q.Owner) {
		p.Who = append(p.Groups(), template.PersonAdmins)
	}
	words := p.WhoInWords(q.Owner)
	if q.Person.Not == template.PersonRequester {
		words += " (not " + q.Requester + ")"
	}
	return words
}

// checkAnswer refuses what is no answer whatever was asked.
func (s StepAnswer) check() error {
	switch {
	case s.Refuse != "" && len(s.Values) > 0:
		return &app.Error{Code: app.EInvalid, Field: "refuse", Message: "A refusal can't include values.", Hint: "Send either values or a reason to refuse."}
	case len(s.Refuse) > template.MaxRefusal || !utf8.ValidString(s.Refuse):
		return &app.Error{Code: app.EInvalid, Field: "refuse", Message: fmt.Sprintf("The reason must be at most %d bytes.", template.MaxRefusal)}
	case s.Refuse != "" && strings.TrimSpace(s.Refuse) == "":
		return &app.Error{Code: app.EInvalid, Field: "refuse", Message: "Reason is required.", Hint: "Explain what has to change, so that others can continue."}
	case len(s.Values) > template.MaxManualStepFields:
		return &app.Error{Code: app.ETooLarge, Field: "values", Message: fmt.Sprintf("A question can have at most %d fields.", template.MaxManualStepFields)}
	}
	return nil
}
