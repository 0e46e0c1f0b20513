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
	Labels  map[string]string  `json:"-"`              // as they are after the changes; nil where none changed
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

// Decide says what policies make of facts, in one look at each. It is pure but for the time that the engine may take. The rule:
//
//   - policies are looked at in order, and only those that are enabled; each sees the request as those before it left it
//   - one that cannot be evaluated refuses, whatever it is for
//   - one that refuses ends it, whatever was said before it
//   - one that allows ends it too: nothing after it is looked at, but what was changed or is to be approved is kept
//   - all others add up: the last value holds, but no lease is longer than the shortest cap, and every approval is needed
//   - what is changed is a request for a new cluster, and size and hardware of a resize; of an existing cluster nothing else changes
//
// Cost and layout stay those of the facts, whatever is changed: see Service.Evaluate.
func Decide(ctx context.Context, e Engine, policies []Policy, f Input) Decision {
	r := &round{engine: e, policies: policies, fields: FieldsOf(f)}
	return r.pass(ctx, f, nil)
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
