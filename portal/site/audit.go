package site

import (
	"context"

	"muster/app"
	"muster/app/identity"
)

// NoteRefusal keeps in the audit what an actor was not allowed.
func (p *Site) NoteRefusal(ctx context.Context, a app.Actor, what string, err error) {
	if err != nil && app.CodeOf(err) == app.EForbidden {
		p.Audit.NoteRefusal(ctx, identity.Refusal{Actor: a, What: what, Why: err})
	}
}
