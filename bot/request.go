package bot

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"muster/app"
)

// mostReason is the longest reason, in bytes: a button has to carry it.
const mostReason = 500

// asked tells of a request that waits for others.
func (b *Bot) asked(q app.Request) Answer {
	return Answer{Title: fmt.Sprintf("Request %d waits to be approved", q.ID), Lines: append(terms(q), "Nothing is done before."),
		Links: []Link{{"Open the request", b.at("/requests/" + strconv.FormatInt(q.ID, 10))}}}
}

// terms says what a request comes to.
func terms(q app.Request) []string {
	what := q.Cluster
	if q.Kind == app.OperationCreate {
		what = strings.TrimSpace(q.Asked.Name + " from " + q.Asked.Template)
	}
	lines := []string{fmt.Sprintf("%s asks to %s: %s", q.Requester, q.Kind.Verb(), what)}
	facts := []string{several(q.Terms.Layout.Size(), "node")}
	if p := priceOf(q.Terms.Layout); p != "" {
		facts = append(facts, p)
	}
	if q.Terms.Lease > 0 {
		facts = append(facts, "for "+app.Length(q.Terms.Lease))
	} else {
		facts = append(facts, "without an end")
	}
	return append(lines, strings.Join(facts, ", "))
}

// reviewOf reads a request's number and a reason.
func (r request) reviewOf(name string) (id int64, reason string, err error) {
	if len(r.words) == 0 {
		return 0, "", r.usage(name)
	}
	id, err = strconv.ParseInt(strings.TrimPrefix(r.words[0], "#"), 10, 64)
	if err != nil || id < 1 {
		return 0, "", &app.Error{Code: app.EInvalid, Field: "request", Message: fmt.Sprintf("“%s” is not the number of a request.", app.CutText(r.words[0], 40))}
	}
	reason = strings.Join(r.words[1:], " ")
	if len(reason) > mostReason {
		return 0, "", &app.Error{Code: app.EInvalid, Field: "reason", Message: fmt.Sprintf("A reason has at most %d letters here.", mostReason)}
	}
	return id, reason, nil
}

// requestApproveAsk shows what would be approved: nobody says yes to what they have not seen.
func (b *Bot) requestApproveAsk(ctx context.Context, r request) (Answer, error) {
	id, reason, err := r.reviewOf("approve")
	if err != nil {
		return Answer{}, err
	}
	return b.requestShow(ctx, r, id, reason)
}

func (b *Bot) requestShow(ctx context.Context, r request, id int64, reason string) (Answer, error) {
	q, err := b.muster.Request(ctx, r.actor, id)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: fmt.Sprintf("Request %d", q.ID), Lines: terms(q), Links: []Link{{"Open the request", b.at("/requests/" + strconv.FormatInt(q.ID, 10))}}}
	if q.Status != app.RequestWaiting {
		a.Lines = append(a.Lines, fmt.Sprintf("It is %s already.", q.Status))
		return a, nil
	}
	if reason != "" {
		a.Lines = append(a.Lines, "Your reason: "+reason)
	}
	a.Buttons = []Button{deed{Do: doApprove, Request: q.ID, Reason: reason, Hash: q.Terms.PlanHash}.button("Approve it", false)}
	return a, nil
}

func (b *Bot) requestDeny(ctx context.Context, r request) (Answer, error) {
	id, reason, err := r.reviewOf("deny")
	if err != nil {
		return Answer{}, err
	}
	if reason == "" {
		return Answer{}, r.usage("deny")
	}
	q, err := b.muster.Review(ctx, r.actor, id, app.ReviewRequest{Verdict: app.VerdictDeny, Reason: reason})
	if err != nil {
		return Answer{}, err
	}
	return b.reviewed(ctx, r, q)
}

// reviewed tells what became of a request that somebody has decided on. What runs by that has a card.
func (b *Bot) reviewed(ctx context.Context, r request, q app.Request) (Answer, error) {
	a := Answer{Title: fmt.Sprintf("Request %d is %s", q.ID, q.Status), Lines: terms(q), Links: []Link{{"Open the request", b.at("/requests/" + strconv.FormatInt(q.ID, 10))}}}
	if q.Status != app.RequestAccepted || q.Cluster == "" {
		return a, nil
	}
	v, err := b.muster.Cluster(ctx, r.actor, q.Cluster)
	if err != nil {
		return Answer{}, err
	}
	a.Started = b.begun(v, 0).Started
	return a, nil
}
