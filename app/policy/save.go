package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Text say a decision in a line: "approve: 2 approvals from the group finance", "refuse: too many", "accept, lease 8 h".
func (d Decision) Text() string {
	text := string(d.Outcome)
	switch d.Outcome {
	case OutcomeRefuse:
		return text + ": " + d.Reason
	case OutcomeApprove:
		var who []string
		for _, n := range d.Needs {
			who = append(who, n.Text())
		}
		text += ": " + humanize.And(who)
	}
	for _, c := range d.Changes {
		text += ", " + c.Text()
	}
	return text
}

// Same reports whether two decisions come to the same for who asked.
func (d Decision) Same(o Decision) bool { return d.Text() == o.Text() }

// PolicyList returns the policies of the actor's tenant, in the order in which they are looked at.
func (a *Service) PolicyList(ctx context.Context, actor app.Actor) ([]Policy, error) {
	if err := actor.Authorize("PolicyList"); err != nil {
		return nil, err
	}
	return a.Store.Policies(ctx, actor.Tenant)
}

// Policy returns a policy with all of its versions, the newest first; ENotFound where there never was one.
func (a *Service) Policy(ctx context.Context, actor app.Actor, name string) ([]Policy, error) {
	if err := actor.Authorize("Policy"); err != nil {
		return nil, err
	}
	all, err := a.Store.PolicyVersions(ctx, actor.Tenant, name)
	if err == nil && len(all) == 0 {
		err = app.Errorf(app.ENotFound, "Policy %q doesn't exist.", name)
	}
	return all, err
}

// SavePolicy writes a policy, as a new version where there is one of the name. EInvalid says which field is wrong, of CEL with
// line and column. Where p.Version is set, it must be the current one, else EConflict.
func (a *Service) SavePolicy(ctx context.Context, actor app.Actor, p Policy) (Policy, error) {
	if err := actor.Authorize("SavePolicy"); err != nil {
		return Policy{}, err
	}
	if err := a.CheckPolicy(&p); err != nil {
		return Policy{}, err
	}
	return a.Store.SavePolicy(ctx, p, actor, a.Now())
}

// PolicyVariables are the words that policies know. They are no secret.
func (a *Service) PolicyVariables() []Variable {
	if a.Policies == nil {
		return nil
	}
	return a.Policies.Variables()
}

func (a *Service) CheckPolicy(p *Policy) error {
	if err := p.Check(); err != nil {
		return err
	}
	if a.Policies == nil {
		return &app.Error{Code: app.EInternal, Message: "this server has no engine for policies"}
	}
	return a.Policies.Check(*p)
}

// DeletePolicy deletes a policy; its versions are kept for those who look back.
func (a *Service) DeletePolicy(ctx context.Context, actor app.Actor, name string) error {
	if err := actor.Authorize("DeletePolicy"); err != nil {
		return err
	}
	return a.Store.DeletePolicy(ctx, name, actor, a.Now())
}

// TrialRequest asks what a policy would do, before it is saved. Policy is the draft: it replaces the one of its name, if any; with
// Remove the one of that name is left out instead. Facts are a made-up request, nil for none. Past is how many of the newest
// requests it is tried on; 0 means 200, at most 1,000.
type TrialRequest struct {
	Policy Policy `json:"policy"`
	Remove bool   `json:"remove,omitempty"`
	Facts  *Input `json:"facts,omitempty"`
	Past   int    `json:"past,omitempty"`
}

// TrialResult is the answer. Looked counts the past requests, Otherwise those that would be decided otherwise than by the policies as
// they are now; Cases are at most 200 of these, the newest first.
type TrialResult struct {
	Now       *Decision   `json:"now,omitempty"`  // of the made-up request, by the policies as they are
	Then      *Decision   `json:"then,omitempty"` // with the draft
	Requests  int         `json:"requests"`
	Otherwise int         `json:"otherwise"`
	Cases     []TrialCase `json:"cases"`
	Seconds   float64     `json:"seconds"` // that it took
	Partial   bool        `json:"partial,omitempty"`
}

// TrialCase is a past request that would be decided otherwise.
type TrialCase struct {
	Request     int64     `json:"request"`
	Requester   string    `json:"requester"`
	RequestedAt time.Time `json:"requested_at"`
	Text        string    `json:"text"`
	Old         Decision  `json:"old"`
	New         Decision  `json:"new"`
}

// Limits of a trial.
const (
	mostPast  = 1000
	somePast  = 200
	mostCases = 200
	trialTime = 10 * time.Second
)

// TryPolicy says what a draft would do to a made-up request and to those of the past. Nothing is written.
func (a *Service) TryPolicy(ctx context.Context, actor app.Actor, t TrialRequest) (TrialResult, error) {
	out := TrialResult{Cases: []TrialCase{}}
	if err := actor.Authorize("TryPolicy"); err != nil {
		return out, err
	}
	if !t.Remove {
		if err := a.CheckPolicy(&t.Policy); err != nil {
			return out, err
		}
	}
	now, err := a.Store.Policies(ctx, actor.Tenant)
	if err != nil {
		return out, err
	}
	then := with(now, t.Policy, t.Remove)
	begun := a.Now()
	if t.Facts != nil {
		f := *t.Facts
		f.Tenant = actor.Tenant
		if f.Kind == "" {
			f.Kind = app.OperationCreate
		}
		if f.Now.IsZero() {
			f.Now = a.Now()
		}
		if f.TimeZone == "" {
			if f.TimeZone, err = a.TimeZone(ctx, actor.Tenant); err != nil {
				return out, err
			}
		}
		old, new := Decide(ctx, a.Policies, now, f), Decide(ctx, a.Policies, then, f)
		out.Now, out.Then = &old, &new
	}
	limit := t.Past
	if limit <= 0 {
		limit = somePast
	}
	past, err := a.Store.PastFacts(ctx, actor.Tenant, min(limit, mostPast))
	if err != nil {
		return out, err
	}
	for _, r := range past {
		if ctx.Err() != nil || a.Now().Sub(begun) > trialTime {
			out.Partial = true
			break
		}
		out.Requests++
		old, new := Decide(ctx, a.Policies, now, r.Facts), Decide(ctx, a.Policies, then, r.Facts)
		if old.Same(new) {
			continue
		}
		if out.Otherwise++; len(out.Cases) < mostCases {
			f := r.Facts
			out.Cases = append(out.Cases, TrialCase{Request: r.ID, Requester: r.Requester, RequestedAt: r.RequestedAt, Old: old, New: new,
				Text: fmt.Sprintf("%s: %s from template %s, lease %s", cmp.Or(f.Name, "New cluster"), humanize.Count(f.Nodes, "node"), f.Template, LeaseText(f.Lease))})
		}
	}
	out.Seconds = a.Now().Sub(begun).Seconds()
	return out, nil
}

// with returns policies with a draft among them.
func with(policies []Policy, draft Policy, remove bool) []Policy {
	out := slices.DeleteFunc(slices.Clone(policies), func(p Policy) bool { return p.Name == draft.Name })
	if !remove {
		out = append(out, draft)
	}
	SortPolicies(out)
	return out
}

// SortPolicies puts policies in the order in which they are looked at.
func SortPolicies(policies []Policy) {
	slices.SortFunc(policies, func(a, b Policy) int {
		if a.Order != b.Order {
			return a.Order - b.Order
		}
		return strings.Compare(a.Name, b.Name)
	})
}
