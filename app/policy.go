package app

import (
	"fmt"
	"strings"
	"time"
)

// PolicyEffect is what a policy does where it applies.
type PolicyEffect string

// Approval says who has to approve, and what happens while nobody does. Who asked never counts, and nobody counts twice.
type Approval struct {
	Count int    `json:"count"`
	Group string `json:"group,omitempty"`
	Role  Role   `json:"role,omitempty"`
	// High makes approvers prove anew who they are.
	High bool `json:"high,omitempty"`
	// ExpireAfter ends the request; 0 means three days. RemindAfter and EscalateAfter are counted from the asking; 0: never.
	ExpireAfter   time.Duration `json:"expire_after,omitempty"`
	RemindAfter   time.Duration `json:"remind_after,omitempty"`
	EscalateAfter time.Duration `json:"escalate_after,omitempty"`
	EscalateTo    string        `json:"escalate_to,omitempty"`
	// BreakGlass is a group whose members may let it run at once, as admins may.
	BreakGlass string `json:"break_glass,omitempty"`
}

// Facts are what policies see of a request.
type Facts struct {
	Tenant      string        `json:"tenant"`
	User        string        `json:"user"`
	Role        Role          `json:"role"`
	Groups      []string      `json:"groups"`
	Via         Via           `json:"via"`
	Kind        OperationKind `json:"kind"`
	Name        string        `json:"name"`
	Template    string        `json:"template"`
	Services    []string      `json:"services"`
	Nodes       int           `json:"nodes"`
	CPU         float64       `json:"cpu"` // virtual cores of all nodes; those of unknown size count as 0
	CostPerHour float64       `json:"cost_per_hour"`
	Lease       time.Duration `json:"lease"` // 0: for ever
	Provider    string        `json:"provider"`
	Hardware    []string      `json:"hardware"`
	Now         time.Time     `json:"now"`
	TimeZone    string        `json:"time_zone"` // of the tenant, by which weekday and hour go
}

// Limits of policies.
const (
	MaxPolicies    = 200 // of a tenant
	maxApprovers   = 20
	defaultExpiry  = 72 * time.Hour
	maxExpiry      = 30 * 24 * time.Hour
	minApprovalAge = time.Minute // of reminders, escalation and expiry
)

func (a *Approval) Check() error {
	wrong := func(field, message, hint string) error {
		return &Error{Code: EInvalid, Field: "approval." + field, Message: message, Hint: hint}
	}
	if a.Count < 1 || a.Count > maxApprovers {
		return wrong("count", "At least one and at most 20 people can be asked to approve.", "Two is four eyes.")
	}
	a.Group, a.EscalateTo, a.BreakGlass = strings.TrimSpace(a.Group), strings.TrimSpace(a.EscalateTo), strings.TrimSpace(a.BreakGlass)
	if a.Group == "" && a.Role == "" {
		a.Role = RoleApprover
	}
	if a.Role != "" && a.Role != RoleApprover && a.Role != RoleAdmin && a.Role != RoleSuperadmin {
		return wrong("role", fmt.Sprintf("Who has the role %.40q does not decide on requests.", string(a.Role)), "One of: approver, admin, superadmin; or name a group.")
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"expire_after", a.ExpireAfter}, {"remind_after", a.RemindAfter}, {"escalate_after", a.EscalateAfter}} {
		if d.value != 0 && (d.value < minApprovalAge || d.value > maxExpiry) {
			return wrong(d.field, "That is not between a minute and thirty days.", "Such as 24h, or leave it out.")
		}
	}
	if (a.EscalateAfter > 0) != (a.EscalateTo != "") {
		return wrong("escalate_to", "An escalation needs both a time and a group.", "Say after how long, and to which group; or neither.")
	}
	return nil
}
