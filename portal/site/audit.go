package site

import (
	"context"

	"muster/app"
	"muster/app/identity"
)

// Auditing is a power that a Muster may have: to tell who did what. Admins see their tenant, superadmins all.
type Auditing interface {
	Audit(ctx context.Context, a app.Actor, f app.AuditFilter) ([]app.Deed, bool, error)
	ExportAudit(ctx context.Context, a app.Actor, f app.AuditFilter, each func(app.Deed) error) error
	VerifyAudit(ctx context.Context, a app.Actor, tenant string) ([]identity.AuditProof, error)
	// NoteRefusal keeps that somebody was refused.
	NoteRefusal(ctx context.Context, r identity.Refusal)
}

func (p *Site) Auditing() Auditing {
	a, _ := p.Muster.(Auditing)
	return a
}

// NoteRefusal keeps in the audit what an actor was not allowed.
func (p *Site) NoteRefusal(ctx context.Context, a app.Actor, what string, err error) {
	if n := p.Auditing(); n != nil && err != nil && app.CodeOf(err) == app.EForbidden {
		n.NoteRefusal(ctx, identity.Refusal{Actor: a, What: what, Why: err})
	}
}
