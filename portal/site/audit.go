package site

import (
	"context"

	"muster/app"
	"muster/app/identity"
)

// NoteRefusal records in the audit log what an actor wasn't allowed to do.
func (p *Site) NoteRefusal(ctx context.Context, a app.Actor, what string, err error) {
	if err != nil && app.CodeOf(err) == app.EForbidden {
		p.Audit.NoteRefusal(ctx, identity.Refusal{Actor: a, What: what, Why: err})
	}
}
