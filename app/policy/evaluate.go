package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// Evaluation is what Evaluate needs of a request.
type Evaluation struct {
	Policies []Policy
	// Facts are those of the request as it was made. Where there is no layout yet, Unsolved is set.
	Facts  Input
	DryRun bool // a preview
	// Fixed are fields that can't be changed here, though they could be in another request of the kind.
	Fixed []Field
	// Solve works out the layout of a request with such fields, and returns the facts of it. Nothing reports that nothing would happen, so
	// there is nothing to decide.
	Solve func(ctx context.Context, f Fields) (facts Input, nothing bool, err error)
}

// mostSolves is how often a layout is worked out: once where nothing changes afterwards.
const mostSolves = 2

// Evaluate carries a request through its policies and webhooks. What can be changed before there is a layout is; then the layout is worked out,
// webhooks are asked about it, and all policies judge it. Where they, or a webhook, change what the layout depends on, it is worked out once
// more and judged again. A request that they would change again then is refused. It is never called in a transaction, since webhooks take
// their time.
//
// The error is that of Solve; where policies changed the request before, it is EForbidden, reason "policy", and says who changed what.
func (a *Service) Evaluate(ctx context.Context, v Evaluation) (Decision, Input, error) {
	r := &round{engine: a.Policies, policies: v.Policies, fields: FieldsOf(v.Facts), fixed: v.Fixed}
	if v.Facts.Unsolved && slices.ContainsFunc(v.Policies, func(p Policy) bool { return p.Enabled && p.Effect == EffectRewrite && p.Set.layouts() }) {
		r.pass(ctx, v.Facts, nil)
		r.forget()
	}
	var answers []WebhookAnswer
	for n := 1; ; n++ {
		solved := r.fields
		facts, nothing, err := v.Solve(ctx, solved)
		switch {
		case err != nil:
			return Decision{}, facts, Impossible(r.changes, err)
		case nothing:
			return Decision{Outcome: OutcomeAccept, Lease: facts.Lease}, facts, nil
		}
		if n == 1 && a.Webhooks != nil {
			if answers, err = a.Webhooks.AskAbout(ctx, WebhookQuestion{Facts: facts, Changes: r.changes, DryRun: v.DryRun}); err != nil {
				return Decision{}, facts, err
			}
		}
		d := r.pass(ctx, facts, answers)
		if d.Outcome == OutcomeRefuse || r.fields == solved {
			return d, facts, nil
		}
		if n == mostSolves {
			return r.unstable(d, solved), facts, nil
		}
		r.forget()
		for i := range answers { // they hold from now on, unless policies changed them back
			answers[i].Set = Values{Lease: answers[i].Set.Lease, Labels: answers[i].Set.Labels}
		}
	}
}

// forget drops what counts only at the last pass: who refused or allowed.
func (r *round) forget() {
	r.said = slices.DeleteFunc(r.said, func(s AppliedPolicy) bool { return s.Effect == EffectRefuse || s.Effect == EffectAllow })
}

// Impossible says of an error who changed the request before it. Without a change, and for errors that are no fault of the request, it is the same.
func Impossible(changes []Change, err error) error {
	e := app.AsError(err)
	if len(changes) == 0 || e.Code != app.EInvalid && e.Code != app.ENotFound && e.Code != app.ENoLayout && e.Code != app.EForbidden {
		return err
	}
	var who []string
	for _, c := range changes {
		who = append(who, strings.TrimSuffix(c.Sentence(), "."))
	}
	return &app.Error{Code: app.EForbidden, Reason: "policy", Message: fmt.Sprintf("%s. The changed request isn't possible: %s", strings.Join(who, ". "),
		e.ForPeople()),
		Hint: "Change the request so that it needs no change, or ask an admin to check the policy."}
}

// unstable refuses what policies change again and again.
func (r *round) unstable(d Decision, solved Fields) Decision {
	var who, what []string
	for _, f := range []Change{{Field: FieldSize, From: solved.Size, To: r.fields.Size}, {Field: FieldHardware, From: solved.Hardware, To: r.fields.Hardware},
		{Field: FieldProvider, From: solved.Provider, To: r.fields.Provider}} {
		if f.From == f.To {
			continue
		}
		what = append(what, f.Text())
		for _, c := range r.changes {
			if c.Field == f.Field && c.To == f.To {
				who = append(who, c.Policy)
			}
		}
	}
	slices.Sort(who)
	who = slices.Compact(who)
	d.Outcome, d.Needs, d.Policy = OutcomeRefuse, nil, strings.Join(who, ", ")
	d.Reason = fmt.Sprintf("%s would change the request again after its change: %s. An admin must make it stable, as min(nodes, 5) is.",
		humanize.And(sources(who)), humanize.And(what))
	return d
}

func sources(names []string) (list []string) {
	for _, n := range names {
		list = append(list, SourceText(n))
	}
	return list
}
