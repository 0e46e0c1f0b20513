package app

import (
	"fmt"
	"slices"
	"time"
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
	Outcome Outcome       `json:"outcome"`
	Reason  string        `json:"reason,omitempty"`  // of a refusal
	Policy  string        `json:"policy,omitempty"`  // that refused, or allowed
	Changes []Change      `json:"changes,omitempty"` // in the order in which they were made
	Needs   []Need        `json:"needs,omitempty"`
	Said    []Said        `json:"said,omitempty"` // by each policy that applied, in order
	Lease   time.Duration `json:"lease"`          // as it is after the changes
}

// Change is what a policy changed in a request. The lease is all that it can be: anything that a layout or a plan depends on would have to
// be decided before that is worked out, or worked out again.
type Change struct {
	Policy string        `json:"policy"`
	From   time.Duration `json:"from"` // the lease; 0: for ever
	To     time.Duration `json:"to"`
	Reason string        `json:"reason,omitempty"`
}

// Said is that a policy applied.
type Said struct {
	Policy  string       `json:"policy"`
	Version int          `json:"version"`
	Effect  PolicyEffect `json:"effect"`
	Text    string       `json:"text,omitempty"`
}

// Need is approvals that a policy wants.
type Need struct {
	Policy string `json:"policy"`
	Reason string `json:"reason,omitempty"`
	Approval
	Approved    []string  `json:"approved,omitempty"` // who has, of what is asked for now
	RemindedAt  time.Time `json:"reminded_at,omitzero"`
	EscalatedAt time.Time `json:"escalated_at,omitzero"`
}

// Met tells whether enough people have approved.
func (n Need) Met() bool { return len(n.Approved) >= n.Count }

// Words say who has to approve: "2 of the group finance".
func (n Need) Words() string { return fmt.Sprintf("%d %s", n.Count, n.Who()) }

// missing says whose approval a need still lacks: "1 more of the group finance".
func (n Need) missing() string {
	if len(n.Approved) == 0 {
		return n.Words()
	}
	return fmt.Sprintf("%d more %s", n.Count-len(n.Approved), n.Who())
}

// Who says whose approval counts: "of the group finance".
func (n Need) Who() string {
	who := ""
	switch {
	case n.Group != "" && n.Role != "":
		who = fmt.Sprintf("of the group %s or with the role %s", n.Group, n.Role)
	case n.Group != "":
		who = "of the group " + n.Group
	default:
		who = "with the role " + string(n.Role)
	}
	if !n.EscalatedAt.IsZero() {
		who += " or of the group " + n.EscalateTo
	}
	return who
}

// fits tells whether somebody may approve here, whoever asked.
func (n Need) fits(a Actor) bool {
	switch {
	case n.Group != "" && slices.Contains(a.Groups, n.Group):
		return true
	case n.Role != "" && a.Role.atLeast(n.Role):
		return true
	}
	return !n.EscalatedAt.IsZero() && slices.Contains(a.Groups, n.EscalateTo)
}

// atLeast tells whether a role is another one or mightier; viewers and robots are mightier than none.
func (r Role) atLeast(other Role) bool {
	i, j := slices.Index(Roles, r), slices.Index(Roles, other)
	return i >= 0 && j >= 0 && i <= j
}

// Decides tells whether the reader may approve a request with such needs, or let it run without approvals.
func Decides(r ClusterReader, needs []Need) bool {
	return PermissionTable["Review"].Of(r.Role) != no && slices.ContainsFunc(needs, func(n Need) bool {
		return n.fits(Actor{Role: r.Role, Groups: r.Groups}) || n.BreakGlass != "" && slices.Contains(r.Groups, n.BreakGlass)
	})
}
