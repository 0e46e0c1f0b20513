package bot

import (
	"cmp"
	"context"
	"fmt"

	"muster/app"
	"muster/app/identity"
)

// accounts finds which accounts people of a chat have.
type accounts struct {
	people People
	tenant string
}

// actor returns who someone is. People of other tenants are turned away, whatever they may do at home: this chat is not theirs.
func (ac accounts) actor(ctx context.Context, p Person) (app.Actor, error) {
	a, err := ac.people.ActorOfIdentity(ctx, p.Kind, p.External)
	if err != nil {
		return a, err
	}
	if tenant := cmp.Or(p.Tenant, ac.tenant); a.Tenant != tenant {
		return app.Actor{}, &app.Error{Code: app.EForbidden, Reason: "other_tenant", Message: "You are linked to an account of another tenant than the one of this workspace.",
			Hint: "Remove the link on your account page in the portal, and link an account of this workspace's tenant."}
	}
	a.Via = app.ViaSlack
	return a, nil
}

// link returns someone the way to link themselves to their account.
func (ac accounts) link(ctx context.Context, r request) (Answer, error) {
	at, err := ac.people.LinkStart(ctx, r.person.Kind, r.person.External, r.person.Label)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Title: "Link yourself to your account", Lines: []string{
		fmt.Sprintf("Open this within %d minutes, sign in, and confirm. It works once, and is for you alone: whoever confirms it will be acted for by you.", int(identity.LinkLife.Minutes()))},
		Links: []Link{{"Link my account", r.Page(at)}}}, nil
}
