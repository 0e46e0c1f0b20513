package bot

import (
	"cmp"
	"context"
	"fmt"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
)

// accounts finds the account of a chat user.
type accounts struct {
	people People
	tenant string
}

// actor returns a chat user's account. Users of other tenants are refused, whatever their role there.
func (ac accounts) actor(ctx context.Context, p Person) (app.Actor, error) {
	a, err := ac.people.ActorOfIdentity(ctx, p.Kind, p.External)
	if err != nil {
		return a, err
	}
	if tenant := cmp.Or(p.Tenant, ac.tenant); a.Tenant != tenant {
		return app.Actor{}, &app.Error{Code: app.EForbidden, Reason: "other_tenant", Message: "Your Muster account belongs to another tenant than this workspace.",
			Hint: "Remove the link on your account page in the portal, then link an account of this workspace's tenant."}
	}
	a.Via = app.ViaSlack
	return a, nil
}

// link answers with a one-time link that connects a Slack user to their account.
func (ac accounts) link(ctx context.Context, r request) (Answer, error) {
	at, err := ac.people.LinkStart(ctx, r.person.Kind, r.person.External, r.person.Label)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Title: "Link your account", Lines: []string{
		fmt.Sprintf("Open this link within %s, sign in, and confirm. Don't share it: you could act as anyone who confirms it. It works once.", humanize.Duration(identity.LinkLife))},
		Links: []Link{{"Link account", r.Page(at)}}}, nil
}
