package app

import (
	"context"
	"encoding/json"
	"time"
)

// AuditEntry is an entry of the audit: who did what to what. Entries of a tenant are numbered from 1 without gaps, and each holds a
// hash over itself and the hash before it, so that no one can change or take out one unseen.
type AuditEntry struct {
	Tenant string    `json:"tenant"`
	Number int64     `json:"number"`
	At     time.Time `json:"at"`
	Who    string    `json:"who"` // "muster" where no one asked
	Via    Via       `json:"via,omitempty"`
	From   string    `json:"from,omitempty"`  // the address it was asked from
	Token  string    `json:"token,omitempty"` // label of the API token, where it was one
	Act    string    `json:"act"`
	Object string    `json:"object"`
	// Detail is what changed: a JSON object with before and after, or a word or two.
	Detail string `json:"detail,omitempty"`
	Hash   string `json:"hash"` // hex
}

// Change returns what was before and after, where the entry says so; nil where there is nothing to say.
func (d AuditEntry) Change() (before, after any) {
	var both struct{ Before, After any }
	if json.Unmarshal([]byte(d.Detail), &both) != nil {
		return nil, nil
	}
	return both.Before, both.After
}

// AuditFilter chooses entries of the audit. Empty fields choose all.
type AuditFilter struct {
	Tenants []string  // set by the use case: those that the actor may see; nil is all
	Tenant  string    // of one tenant; superadmins may name any, "*" is all of them
	Who     string    // a user's name as shown in records
	Act     string    // the beginning of an act, as in "cluster."
	Object  string    // exactly
	From    time.Time // at or after
	To      time.Time // before
	// After and AfterTenant are the cursor: entries behind that one. Newest first, behind means older.
	After       int64
	AfterTenant string
	OldestFirst bool
	Limit       int // 0: a page of ordinary size
}

// Acting is the key under which a context carries who acts.
type Acting struct{}

// In returns a context that carries the actor, for records only: what it may do is asked of the actor that use cases are given.
func (a Actor) In(ctx context.Context) context.Context { return context.WithValue(ctx, Acting{}, a) }

// AuditOf narrows a filter to what the actor may see.
func (a Actor) AuditOf(f AuditFilter) (AuditFilter, error) {
	switch {
	case f.Tenant == "" || f.Tenant == a.Tenant:
		f.Tenants = []string{a.Tenant}
	case a.Role != RoleSuperadmin:
		return f, &Error{Code: EForbidden, Message: "You can only see your own tenant's audit log.", Hint: "Ask a superadmin for other tenants' audit logs."}
	case f.Tenant == "*":
		f.Tenants = nil
	default:
		f.Tenants = []string{f.Tenant}
	}
	if !f.From.IsZero() && !f.To.IsZero() && !f.From.Before(f.To) {
		return f, &Error{Code: EInvalid, Field: "from", Message: "The start time must be before the end time.", Hint: "Swap the two times, or omit one."}
	}
	return f, nil
}

// AuditEntry is an entry about what the actor did.
func (a Actor) AuditEntry(at time.Time, act, object, detail string) AuditEntry {
	return AuditEntry{Tenant: a.Tenant, At: at, Who: a.Name(), Via: a.Via, From: a.From, Token: a.Token, Act: act, Object: object, Detail: detail}
}
