package policy

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"muster/app"
)

// Effect is what a policy does where it applies.
type Effect string

// Approval says who has to approve, and what happens while no one does. Who asked never counts, and no one counts twice.
type Approval struct {
	Count int      `json:"count"`
	Group string   `json:"group,omitempty"`
	Role  app.Role `json:"role,omitempty"`
	// High makes approvers prove again who they are.
	High bool `json:"high,omitempty"`
	// ExpireAfter ends the request; 0 means three days. RemindAfter and EscalateAfter are counted from the asking; 0: never.
	ExpireAfter   time.Duration `json:"expire_after,omitempty"`
	RemindAfter   time.Duration `json:"remind_after,omitempty"`
	EscalateAfter time.Duration `json:"escalate_after,omitempty"`
	EscalateTo    string        `json:"escalate_to,omitempty"`
	// BreakGlass is a group whose members may let it run at once, as admins may.
	BreakGlass string `json:"break_glass,omitempty"`
}

// Input are what policies see of a request.
type Input struct {
	Tenant      string            `json:"tenant"`
	User        string            `json:"user"`
	Role        app.Role          `json:"role"`
	Groups      []string          `json:"groups"`
	Via         app.Via           `json:"via"`
	Kind        app.OperationKind `json:"kind"`
	Name        string            `json:"name"`
	Template    string            `json:"template"`
	Services    []string          `json:"services"`
	Nodes       int               `json:"nodes"`
	CPU         float64           `json:"cpu"` // virtual cores of all nodes; those of unknown size count as 0
	CostPerHour float64           `json:"cost_per_hour"`
	Lease       time.Duration     `json:"lease"` // 0: forever
	Provider    string            `json:"provider"`
	Hardware    []string          `json:"hardware"`
	Labels      map[string]string `json:"labels,omitempty"`
	Now         time.Time         `json:"now"`
	TimeZone    string            `json:"time_zone"` // of the tenant, by which weekday and hour go
	// Unsolved says that there is no layout yet: CPU and cost are not known, and neither is the hardware where none was asked for.
	Unsolved bool `json:"-"`
	// NewHardware is that of nodes that a resize adds; nil: all are new.
	NewHardware []string `json:"-"`
}

// Limits of policies.
const (
	MaxPolicies    = 200 // of a tenant
	maxApprovers   = 20
	DefaultExpiry  = 72 * time.Hour
	maxExpiry      = 30 * 24 * time.Hour
	minApprovalAge = time.Minute // of reminders, escalation and expiry
)

func (a *Approval) Check() error {
	wrong := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: "approval." + field, Message: message, Hint: hint}
	}
	if a.Count < 1 || a.Count > maxApprovers {
		return wrong("count", "The number of approvals must be 1 to 20.", "Use 2 to require a second pair of eyes.")
	}
	a.Group, a.EscalateTo, a.BreakGlass = strings.TrimSpace(a.Group), strings.TrimSpace(a.EscalateTo), strings.TrimSpace(a.BreakGlass)
	if a.Group == "" && a.Role == "" {
		a.Role = app.RoleApprover
	}
	if a.Role != "" && a.Role != app.RoleApprover && a.Role != app.RoleAdmin && a.Role != app.RoleSuperadmin {
		return wrong("role", fmt.Sprintf("The role %.40q can't approve requests.", string(a.Role)), "Use approver, admin or superadmin, or name a group.")
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"expire_after", a.ExpireAfter}, {"remind_after", a.RemindAfter}, {"escalate_after", a.EscalateAfter}} {
		if d.value != 0 && (d.value < minApprovalAge || d.value > maxExpiry) {
			return wrong(d.field, "The time must be between 1 min and 30 d.", "For example: 24h. Or omit it.")
		}
	}
	if (a.EscalateAfter > 0) != (a.EscalateTo != "") {
		return wrong("escalate_to", "An escalation requires a time and a group.", "Set both, or neither.")
	}
	return nil
}

// The effects. docs/policies.md has the rule by which they come together.
const (
	EffectAllow   Effect = "allow"   // nothing after it is looked at
	EffectRefuse  Effect = "refuse"  // the request is refused, with a reason
	EffectRewrite Effect = "rewrite" // the request is changed
	EffectApprove Effect = "approve" // people have to approve first

	// EffectIgnored is what a webhook that did not answer is said to have done; no policy has it.
	EffectIgnored Effect = "ignored"
)

// Policy is a rule about requests, in CEL (https://cel.dev) over Facts. Policies are looked at in order, those with the same
// order by name.
type Policy struct {
	Name    string `json:"name"`
	About   string `json:"about,omitempty"`
	Order   int    `json:"order"`
	Enabled bool   `json:"enabled"`
	When    string `json:"when"`
	Effect  Effect `json:"effect"`
	// Reason is shown to the requester. Parts such as ${nodes} are CEL.
	Reason string `json:"reason,omitempty"`
	// LeaseCap is CEL that returns a duration: no lease is longer. For rewrite.
	LeaseCap string `json:"lease_cap,omitempty"`
	// Set is what is changed. For rewrite.
	Set *Set `json:"set,omitempty"`
	// Approval is who has to approve. For approve, and for a rewrite whose changes need it.
	Approval *Approval `json:"approval,omitempty"`

	Version int       `json:"version"`
	SavedBy string    `json:"saved_by,omitempty"`
	SavedAt time.Time `json:"saved_at,omitzero"`
	Deleted bool      `json:"deleted,omitempty"`
}

// Judgement is what a policy says about facts.
type Judgement struct {
	Applies bool
	Reason  string        // expanded
	Lease   time.Duration // of a rewrite: the cap, 0 for none
	Set     Values        // of a rewrite
	// Later says that it reads what is known only with a layout, and Input.Unsolved is set. All else is zero then.
	Later bool
}

// Engine understands the CEL in policies. It is pure; both methods may be called from many goroutines.
type Engine interface {
	// Variables are the facts that expressions can ask about.
	Variables() []Variable
	// Check tells what is wrong with the CEL of a policy: EInvalid with the field, and line and column in the message.
	Check(p Policy) error
	// Judge says whether a policy applies. It is bounded in time and cost; an error means that no one can tell.
	Judge(ctx context.Context, p Policy, f Input) (Judgement, error)
}

// Variable is a fact under the name that it has in expressions, with its type and what it is.
type Variable struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Text string `json:"text"`
}

// PastRequest is a request as a policy is tried on it.
type PastRequest struct {
	ID          int64
	Requester   string
	RequestedAt time.Time
	Facts       Input
}

var policyName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Check fills in what is left out, and refuses what makes no sense. The CEL is for the engine to check.
func (p *Policy) Check() error {
	wrong := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	p.Name, p.About, p.Reason = strings.TrimSpace(p.Name), strings.TrimSpace(p.About), strings.TrimSpace(p.Reason)
	p.When, p.LeaseCap = strings.TrimSpace(p.When), strings.TrimSpace(p.LeaseCap)
	switch {
	case !policyName.MatchString(p.Name):
		return wrong("name", fmt.Sprintf("Invalid policy name %.70q.", p.Name), "Use up to 63 lowercase letters, digits and dashes, such as big-clusters.")
	case len(p.About) > 500:
		return wrong("about", "The description must be at most 500 bytes.", "Shorten the description.")
	case p.Order < 0 || p.Order > 100000:
		return wrong("order", "The order must be a number from 0 to 100000.", "Leave gaps for later policies: 10, 20, 30.")
	case p.When == "":
		return wrong("when", "The condition is required.", `Write CEL such as nodes > 10, or true for always.`)
	case len(p.When) > MaxExpression || len(p.LeaseCap) > MaxExpression:
		return wrong("when", "An expression must be at most 2,000 bytes.", "Split it into two policies.")
	case len(p.Reason) > 1000:
		return wrong("reason", "The reason must be at most 1,000 bytes.", "Shorten the reason.")
	case p.Effect == EffectRefuse && p.Reason == "":
		return wrong("reason", "A reason is required to refuse a request.", `Write a sentence, such as "At most 10 nodes; you requested ${nodes}."`)
	case p.Effect == EffectRewrite && p.LeaseCap == "" && p.Set.None():
		return wrong("set", "A policy that changes requests must say what it changes.", `Set lease_cap, such as duration("8h"), or a field in set, such as "size": "min(nodes, 5)".`)
	case p.Effect == EffectApprove && p.Approval == nil:
		return wrong("approval", "The approvers are required.", "Set how many approvals are required, and from which group or role.")
	}
	if err := p.Set.check(); err != nil {
		return err
	}
	if p.Effect != EffectRewrite || p.Set.None() {
		p.Set = nil
	}
	switch p.Effect {
	case EffectAllow, EffectRefuse:
		p.LeaseCap, p.Approval = "", nil
		return nil
	case EffectRewrite:
		if p.Approval == nil {
			return nil
		}
		return p.Approval.Check()
	case EffectApprove:
		p.LeaseCap = ""
		return p.Approval.Check()
	}
	return wrong("effect", fmt.Sprintf("Unknown effect %.40q.", string(p.Effect)), "Use allow, refuse, rewrite or approve.")
}
