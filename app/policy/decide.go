package policy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Outcome is what policies make of a request.
type Outcome string

// The outcomes.
const (
	OutcomeAccept  Outcome = "accept"
	OutcomeApprove Outcome = "approve" // people have to approve first
	OutcomeRefuse  Outcome = "refuse"
)

// Decision is what policies said about a request, and what follows.
type Decision struct {
	Outcome Outcome            `json:"outcome"`
	Reason  string             `json:"reason,omitempty"`  // of a refusal
	Policy  string             `json:"policy,omitempty"`  // that refused, or allowed
	Changes []Change           `json:"changes,omitempty"` // in the order in which they were made
	Needs   []RequiredApproval `json:"needs,omitempty"`
	Said    []AppliedPolicy    `json:"said,omitempty"` // by each policy that applied, in order
	Lease   time.Duration      `json:"lease"`          // as it is after the changes
}

// Change is what a policy changed in a request. The lease is all that it can be: anything that a layout or a plan depends on would have to
// be decided before that is worked out, or worked out again.
type Change struct {
	Policy string        `json:"policy"`
	From   time.Duration `json:"from"` // the lease; 0: forever
	To     time.Duration `json:"to"`
	Reason string        `json:"reason,omitempty"`
}

// AppliedPolicy is that a policy applied.
type AppliedPolicy struct {
	Policy  string `json:"policy"`
	Version int    `json:"version"`
	Effect  Effect `json:"effect"`
	Text    string `json:"text,omitempty"`
}

// RequiredApproval is approvals that a policy wants.
type RequiredApproval struct {
	Policy string `json:"policy"`
	Reason string `json:"reason,omitempty"`
	Approval
	Approved    []string  `json:"approved,omitempty"` // who has, of what is asked for now
	RemindedAt  time.Time `json:"reminded_at,omitzero"`
	EscalatedAt time.Time `json:"escalated_at,omitzero"`
}

// Met reports whether enough people have approved.
func (n RequiredApproval) Met() bool { return len(n.Approved) >= n.Count }

// Text says who has to approve: "2 approvals from the group finance".
func (n RequiredApproval) Text() string { return humanize.Count(n.Count, "approval") + " " + n.Who() }

// Missing says whose approval a need still lacks: "1 more approval from the group finance".
func (n RequiredApproval) Missing() string {
	if len(n.Approved) == 0 {
		return n.Text()
	}
	return humanize.Count(n.Count-len(n.Approved), "more approval") + " " + n.Who()
}

// Who says whose approval counts: "from the group finance".
func (n RequiredApproval) Who() string {
	var who string
	switch {
	case n.Group != "" && n.Role != "":
		who = fmt.Sprintf("from the group %s or %ss", n.Group, n.Role)
	case n.Group != "":
		who = "from the group " + n.Group
	default:
		who = "from " + string(n.Role) + "s"
	}
	if !n.EscalatedAt.IsZero() {
		who += " or the group " + n.EscalateTo
	}
	return who
}

// Fits reports whether someone may approve here, regardless of who made the request.
func (n RequiredApproval) Fits(a app.Actor) bool {
	switch {
	case n.Group != "" && slices.Contains(a.Groups, n.Group):
		return true
	case n.Role != "" && a.Role.AtLeast(n.Role):
		return true
	}
	return !n.EscalatedAt.IsZero() && slices.Contains(a.Groups, n.EscalateTo)
}

// Decides reports whether the reader may approve a request with such needs, or let it run without approvals.
func Decides(r app.ClusterReader, needs []RequiredApproval) bool {
	return app.PermissionTable["Review"].Of(r.Role) != app.No && slices.ContainsFunc(needs, func(n RequiredApproval) bool {
		return n.Fits(app.Actor{Role: r.Role, Groups: r.Groups}) || n.BreakGlass != "" && slices.Contains(r.Groups, n.BreakGlass)
	})
}

// Decide says what policies make of facts. It is pure but for the time that the engine may take. The rule:
//
//   - policies are looked at in order, and only those that are enabled; each sees the lease as those before it left it
//   - one that cannot be evaluated refuses, whatever it is for
//   - one that refuses ends it, whatever was said before it
//   - one that allows ends it too: nothing after it is looked at, but what was changed or is to be approved is kept
//   - all others add up: the shortest cap holds, and every approval is needed
//   - a cap is for the lease that is asked for with a create; of an existing cluster it changes nothing
func Decide(ctx context.Context, e Engine, policies []Policy, f Input) Decision {
	d := Decision{Outcome: OutcomeAccept, Lease: f.Lease}
	refuse := func(p Policy, reason string) Decision {
		d.Said = append(d.Said, AppliedPolicy{Policy: p.Name, Version: p.Version, Effect: EffectRefuse, Text: reason})
		d.Outcome, d.Policy, d.Reason, d.Needs = OutcomeRefuse, p.Name, reason, nil
		return d
	}
	for _, p := range policies {
		if !p.Enabled {
			continue
		}
		if e == nil {
			return refuse(p, "Policies can't be evaluated on this server, so every request is refused.")
		}
		f.Lease = d.Lease
		j, err := e.Judge(ctx, p, f)
		switch {
		case err != nil:
			return refuse(p, fmt.Sprintf("Policy %s couldn't be evaluated, so the request is refused: %s", p.Name, app.AsError(err).ForPeople()))
		case !j.Applies:
			continue
		}
		switch p.Effect {
		case EffectRefuse:
			return refuse(p, j.Reason)
		case EffectAllow:
			d.Said = append(d.Said, AppliedPolicy{Policy: p.Name, Version: p.Version, Effect: p.Effect, Text: j.Reason})
			d.Policy = p.Name
			return d
		case EffectRewrite:
			if f.Kind != app.OperationCreate && f.Kind != "" {
				continue
			}
			if d.Lease != 0 && d.Lease <= j.Lease {
				continue // it is short enough
			}
			d.Changes = append(d.Changes, Change{Policy: p.Name, From: d.Lease, To: j.Lease, Reason: j.Reason})
			d.Lease = j.Lease
		case EffectApprove:
			if p.Approval == nil {
				return refuse(p, fmt.Sprintf("Policy %s doesn't name any approvers.", p.Name))
			}
			d.Needs = append(d.Needs, RequiredApproval{Policy: p.Name, Reason: j.Reason, Approval: *p.Approval})
			d.Outcome = OutcomeApprove
		default:
			return refuse(p, fmt.Sprintf("Policy %s has an unknown effect: %q.", p.Name, p.Effect))
		}
		d.Said = append(d.Said, AppliedPolicy{Policy: p.Name, Version: p.Version, Effect: p.Effect, Text: j.Reason})
	}
	return d
}

// Remind is when a need is to be reminded of, zero for never (any more).
func (n RequiredApproval) Remind(asked time.Time) time.Time {
	if n.Met() || n.RemindAfter <= 0 || !n.RemindedAt.IsZero() {
		return time.Time{}
	}
	return asked.Add(n.RemindAfter)
}

func (n RequiredApproval) Escalate(asked time.Time) time.Time {
	if n.Met() || n.EscalateAfter <= 0 || n.EscalateTo == "" || !n.EscalatedAt.IsZero() {
		return time.Time{}
	}
	return asked.Add(n.EscalateAfter)
}
