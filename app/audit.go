package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Deed is an entry of the audit: who did what to what. Entries of a tenant are numbered from 1 without gaps, and each holds a
// hash over itself and the hash before it, so that nobody can change or take out one unseen.
type Deed struct {
	Tenant string    `json:"tenant"`
	Number int64     `json:"number"`
	At     time.Time `json:"at"`
	Who    string    `json:"who"` // "muster" where nobody asked
	Via    Via       `json:"via,omitempty"`
	From   string    `json:"from,omitempty"`  // the address it was asked from
	Token  string    `json:"token,omitempty"` // label of the API token, where it was one
	Act    string    `json:"act"`
	Object string    `json:"object"`
	// Detail is what changed: a JSON object with before and after, or a word or two.
	Detail string `json:"detail,omitempty"`
	Hash   string `json:"hash"` // hex
}

// Change gives what was before and after, where the deed says so; nil where there is nothing to say.
func (d Deed) Change() (before, after any) {
	var both struct{ Before, After any }
	if json.Unmarshal([]byte(d.Detail), &both) != nil {
		return nil, nil
	}
	return both.Before, both.After
}

// Most entries of the audit that one page holds, and how many it has where nothing is said.
const (
	MaxDeeds     = 500
	defaultDeeds = 100
)

// AuditFilter chooses entries of the audit. Empty fields choose all.
type AuditFilter struct {
	Tenants []string  // set by the use case: those that the actor may see; nil is all
	Tenant  string    // of one tenant; superadmins may name any, "*" is all of them
	Who     string    // a user's name as it stands in records
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

// AuditStore keeps the audit. Entries are added in the transaction of what they tell.
type AuditStore interface {
	// Audit gives entries by time, the newest first unless the filter says otherwise. At most f.Limit.
	Audit(ctx context.Context, f AuditFilter) ([]Deed, error)
	// VerifyAudit walks a tenant's chain from its beginning. It gives the end of what is whole, and what is wrong behind it.
	VerifyAudit(ctx context.Context, tenant string) (AuditProof, error)
	// AuditTenants gives the tenants that have a chain, sorted.
	AuditTenants(ctx context.Context) ([]string, error)
	// NoteDeed adds an entry about something that changed no other row. The number, the hash and empty fields about who asks
	// are filled in.
	NoteDeed(ctx context.Context, d Deed) error
}

// AuditProof is what a walk along a chain has found.
type AuditProof struct {
	Tenant  string `json:"tenant"`
	Entries int64  `json:"entries"` // that are whole
	Hash    string `json:"hash"`    // of the last of them, in hex; to be kept elsewhere
	Whole   bool   `json:"whole"`
	// Broken is the number of the first entry that is missing or not what it was; 0 where Whole.
	Broken int64  `json:"broken,omitempty"`
	Why    string `json:"why,omitempty"`
}

// acting is the key under which a context carries who acts.
type acting struct{}

// In gives a context that carries the actor, for records only: what it may do is asked of the actor that use cases are given.
func (a Actor) In(ctx context.Context) context.Context { return context.WithValue(ctx, acting{}, a) }

// Acting gives the actor that a context carries; ok is false where nobody asks but Muster itself.
func Acting(ctx context.Context) (a Actor, ok bool) {
	a, ok = ctx.Value(acting{}).(Actor)
	return a, ok
}

// Audit gives a page of the audit: admins that of their tenant, superadmins that of any. More tells that there are entries
// behind the last one.
func (a *App) Audit(ctx context.Context, actor Actor, f AuditFilter) (list []Deed, more bool, err error) {
	if err := actor.may("Audit"); err != nil {
		return nil, false, err
	}
	if f, err = actor.auditOf(f); err != nil {
		return nil, false, err
	}
	if f.Limit < 0 || f.Limit > MaxDeeds {
		return nil, false, &Error{Code: EInvalid, Field: "limit", Message: fmt.Sprintf("A page holds from 1 to %d entries, not %d.", MaxDeeds, f.Limit)}
	}
	if f.Limit == 0 {
		f.Limit = defaultDeeds
	}
	limit := f.Limit
	f.Limit++
	if list, err = a.Store.Audit(ctx, f); err != nil {
		return nil, false, err
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// auditOf narrows a filter to what the actor may see.
func (a Actor) auditOf(f AuditFilter) (AuditFilter, error) {
	switch {
	case f.Tenant == "" || f.Tenant == a.Tenant:
		f.Tenants = []string{a.Tenant}
	case a.Role != RoleSuperadmin:
		return f, &Error{Code: EForbidden, Message: "You may see the audit of your own tenant only.", Hint: "Ask a superadmin for that of others."}
	case f.Tenant == "*":
		f.Tenants = nil
	default:
		f.Tenants = []string{f.Tenant}
	}
	if !f.From.IsZero() && !f.To.IsZero() && !f.From.Before(f.To) {
		return f, &Error{Code: EInvalid, Field: "from", Message: "The time to begin at is not before the one to end at.", Hint: "Exchange the two, or leave one out."}
	}
	return f, nil
}

// ExportAudit calls each for every entry that the filter chooses, the oldest first, page by page. That somebody has taken it
// is itself noted, before the first.
func (a *App) ExportAudit(ctx context.Context, actor Actor, f AuditFilter, each func(Deed) error) error {
	if err := actor.may("ExportAudit"); err != nil {
		return err
	}
	f, err := actor.auditOf(f)
	if err != nil {
		return err
	}
	if err := a.Store.NoteDeed(ctx, actor.deed(a.Now(), "audit.export", firstOf(f.Tenant, actor.Tenant), "")); err != nil {
		return err
	}
	if f.To.IsZero() {
		f.To = a.Now() // what is added meanwhile is not waited for
	}
	f.OldestFirst, f.Limit, f.After, f.AfterTenant = true, MaxDeeds, 0, ""
	tenants := f.Tenants
	if tenants == nil {
		if tenants, err = a.Store.AuditTenants(ctx); err != nil {
			return err
		}
	}
	for _, t := range tenants { // a tenant at a time, so that each chain is in one piece
		f.Tenants, f.After, f.AfterTenant = []string{t}, 0, ""
		for {
			list, err := a.Store.Audit(ctx, f)
			if err != nil {
				return err
			}
			for _, d := range list {
				if err := each(d); err != nil {
					return err
				}
			}
			if len(list) < MaxDeeds {
				break
			}
			last := list[len(list)-1]
			f.After, f.AfterTenant = last.Number, last.Tenant
		}
	}
	return nil
}

// VerifyAudit walks the chain of the actor's tenant, or of all where tenant is "*" and it is a superadmin who asks, and tells
// for each whether it is whole.
func (a *App) VerifyAudit(ctx context.Context, actor Actor, tenant string) ([]AuditProof, error) {
	if err := actor.may("VerifyAudit"); err != nil {
		return nil, err
	}
	f, err := actor.auditOf(AuditFilter{Tenant: tenant})
	if err != nil {
		return nil, err
	}
	if f.Tenants == nil {
		if f.Tenants, err = a.Store.AuditTenants(ctx); err != nil {
			return nil, err
		}
	}
	var all []AuditProof
	for _, t := range f.Tenants {
		p, err := a.Store.VerifyAudit(ctx, t)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// deed is an entry about what the actor did.
func (a Actor) deed(at time.Time, act, object, detail string) Deed {
	return Deed{Tenant: a.Tenant, At: at, Who: a.Name(), Via: a.Via, From: a.From, Token: a.Token, Act: act, Object: object, Detail: detail}
}
