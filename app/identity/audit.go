package identity

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"muster/app"
)

// AuditStore keeps the audit. Entries are added in the transaction of what they tell.
type AuditStore interface {
	// Audit returns entries by time, the newest first unless the filter says otherwise. At most f.Limit.
	Audit(ctx context.Context, f app.AuditFilter) ([]app.AuditEntry, error)
	// AuditTenants returns the tenants that have a chain, sorted.
	AuditTenants(ctx context.Context) ([]string, error)
	// AddAuditEntry adds an entry about something that changed no other row. The number, the hash and empty fields about who asks
	// are filled in.
	AddAuditEntry(ctx context.Context, d app.AuditEntry) error
	// VerifyAudit walks a tenant's chain from its beginning. It returns the end of what is whole, and what is wrong behind it.
	VerifyAudit(ctx context.Context, tenant string) (AuditProof, error)
}

// AuditLogConfig is what AuditLog is created from. Only what says so may be nil.
type AuditLogConfig struct {
	Store AuditStore
	Now   func() time.Time
}

// AuditLog shows what was done, and keeps what was refused.
type AuditLog struct {
	AuditLogConfig

	refused refusals
}

// NewAuditLog returns one on top of what c holds.
func NewAuditLog(c AuditLogConfig) *AuditLog { return &AuditLog{AuditLogConfig: c} }

// Most entries of the audit that one page holds, and how many it has where nothing is said.
const (
	MaxAuditEntries     = 500
	defaultAuditEntries = 100
)

// AuditProof is what a walk along a chain has found.
type AuditProof struct {
	Tenant  string `json:"tenant"`
	Entries int64  `json:"entries"` // that are whole
	Hash    string `json:"hash"`    // of the last of them, in hex; to be kept elsewhere
	Intact  bool   `json:"intact"`
	// FirstInvalid is the number of the first entry that is missing or was changed; 0 if there is none.
	FirstInvalid int64  `json:"first_invalid,omitempty"`
	Reason       string `json:"reason,omitempty"`
}

// Acting returns the actor that a context carries; ok is false where no one asks but Muster itself.
func Acting(ctx context.Context) (a app.Actor, ok bool) {
	a, ok = ctx.Value(app.Acting{}).(app.Actor)
	return a, ok
}

// Audit returns a page of the audit: admins that of their tenant, superadmins that of any. More tells of entries
// behind the last one.
func (a *AuditLog) Audit(ctx context.Context, actor app.Actor, f app.AuditFilter) (list []app.AuditEntry, more bool, err error) {
	if err := actor.Authorize("Audit"); err != nil {
		return nil, false, err
	}
	if f, err = actor.AuditOf(f); err != nil {
		return nil, false, err
	}
	if f.Limit < 0 || f.Limit > MaxAuditEntries {
		return nil, false, &app.Error{Code: app.EInvalid, Field: "limit", Message: fmt.Sprintf("Limit must be from 1 to %d, not %d.", MaxAuditEntries, f.Limit)}
	}
	if f.Limit == 0 {
		f.Limit = defaultAuditEntries
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

// ExportAudit calls each for every entry that the filter chooses, the oldest first, page by page. That someone has taken it
// is itself noted, before the first.
func (a *AuditLog) ExportAudit(ctx context.Context, actor app.Actor, f app.AuditFilter, each func(app.AuditEntry) error) error {
	if err := actor.Authorize("ExportAudit"); err != nil {
		return err
	}
	f, err := actor.AuditOf(f)
	if err != nil {
		return err
	}
	if err := a.Store.AddAuditEntry(ctx, actor.AuditEntry(a.Now(), "audit.export", cmp.Or(f.Tenant, actor.Tenant), "")); err != nil {
		return err
	}
	if f.To.IsZero() {
		f.To = a.Now() // what is added meanwhile is not waited for
	}
	f.OldestFirst, f.Limit, f.After, f.AfterTenant = true, MaxAuditEntries, 0, ""
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
			if len(list) < MaxAuditEntries {
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
func (a *AuditLog) VerifyAudit(ctx context.Context, actor app.Actor, tenant string) ([]AuditProof, error) {
	if err := actor.Authorize("VerifyAudit"); err != nil {
		return nil, err
	}
	f, err := actor.AuditOf(app.AuditFilter{Tenant: tenant})
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
