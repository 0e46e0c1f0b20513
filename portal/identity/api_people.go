package identity

import (
	"context"

	"muster/app"
	"muster/app/identity"
	"muster/portal/site"
)

type apiUserList struct {
	Body struct {
		Users []identity.User `json:"users"`
		More  bool            `json:"more" doc:"More users follow; pass the last name as after"`
	}
}

func (p *users) APIList(ctx context.Context, in *struct {
	Search string `query:"search" maxLength:"100" doc:"Part of the name, full name or email address"`
	Role   string `query:"role" maxLength:"20"`
	After  string `query:"after" maxLength:"63" doc:"Last name of the previous page"`
	Limit  int    `query:"limit" minimum:"0" maximum:"500" doc:"Maximum number of users; 0 means 100"`
}) (*apiUserList, error) {
	users, more, err := p.Users.Users(ctx, site.Caller(ctx), identity.UserFilter{Search: in.Search, Role: app.Role(in.Role), After: in.After, Limit: in.Limit})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiUserList{}
	out.Body.Users, out.Body.More = users, more
	return out, nil
}

type apiUserName struct {
	Name string `path:"name" maxLength:"63" doc:"Name of the user"`
}

type apiUser struct{ Body identity.UserView }

func (p *users) APIShow(ctx context.Context, in *apiUserName) (*apiUser, error) {
	v, err := p.Users.User(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &apiUser{v}, nil
}

type apiNewUser struct {
	Body struct {
		User     identity.UserView `json:"user"`
		Password string            `json:"password,omitempty" doc:"One-time password, shown only here and changed at first sign-in; robots have none"`
	}
}

func (p *users) APICreate(ctx context.Context, in *struct{ Body identity.NewUser }) (*apiNewUser, error) {
	v, password, err := p.Users.CreateUser(ctx, site.Caller(ctx), in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiNewUser{}
	out.Body.User, out.Body.Password = v, password
	return out, nil
}

func (p *users) APIChange(ctx context.Context, in *struct {
	Name string `path:"name" maxLength:"63" doc:"Name of the user"`
	Body identity.UserChange
}) (*apiUser, error) {
	v, err := p.Users.ChangeUser(ctx, site.Caller(ctx), in.Name, in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &apiUser{v}, nil
}

type apiPassword struct {
	Body struct {
		Password string `json:"password" doc:"One-time password, shown only here and changed at next sign-in"`
	}
}

func (p *users) APIResetPassword(ctx context.Context, in *apiUserName) (*apiPassword, error) {
	password, err := p.Users.ResetUserPassword(ctx, site.Caller(ctx), in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiPassword{}
	out.Body.Password = password
	return out, nil
}

// deleted names what was deleted.
type deleted struct {
	Body struct {
		Deleted string `json:"deleted"`
	}
}

func gone(name string) *deleted {
	out := &deleted{}
	out.Body.Deleted = name
	return out
}

func (p *users) APIDelete(ctx context.Context, in *struct {
	Name       string `path:"name" maxLength:"63" doc:"Name of the user"`
	TransferTo string `query:"transfer_to" maxLength:"63" doc:"New owner of the user's clusters"`
}) (*deleted, error) {
	if err := p.Users.DeleteUser(ctx, site.Caller(ctx), in.Name, in.TransferTo); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return gone(in.Name), nil
}

type apiGroupList struct {
	Body struct {
		Groups []identity.Group `json:"groups"`
	}
}

func (p *groups) APIList(ctx context.Context, _ *struct{}) (*apiGroupList, error) {
	all, err := p.Groups.Groups(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiGroupList{}
	out.Body.Groups = all
	return out, nil
}

// Group names may contain '/', so they are in the query, not in the path.
type apiGroup struct{ Body identity.Group }

func (p *groups) APISave(ctx context.Context, in *struct{ Body identity.GroupChange }) (*apiGroup, error) {
	g, err := p.Groups.SaveGroup(ctx, site.Caller(ctx), in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &apiGroup{g}, nil
}

func (p *groups) APIDelete(ctx context.Context, in *struct {
	Name string `query:"name" required:"true" maxLength:"63" doc:"Name of the group"`
}) (*deleted, error) {
	if err := p.Groups.DeleteGroup(ctx, site.Caller(ctx), in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return gone(in.Name), nil
}

type apiTokenList struct {
	Body struct {
		Tokens []identity.Token `json:"tokens"`
	}
}

func (p *tokens) APIList(ctx context.Context, in *struct {
	User string `query:"user" maxLength:"63" doc:"Only tokens of this user"`
}) (*apiTokenList, error) {
	all, err := p.Tokens.Tokens(ctx, site.Caller(ctx), in.User)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiTokenList{}
	out.Body.Tokens = all
	return out, nil
}

type apiNewToken struct {
	Body struct {
		Token  identity.Token `json:"token"`
		Secret string         `json:"secret" doc:"Token to send as Authorization: Bearer; shown only here"`
	}
}

func (p *tokens) APICreate(ctx context.Context, in *struct{ Body identity.NewAPIToken }) (*apiNewToken, error) {
	t, secret, err := p.create(ctx, site.Caller(ctx), in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiNewToken{}
	out.Body.Token, out.Body.Secret = t, secret
	return out, nil
}

// create creates a token of the actor, or of the robot named.
func (p *tokens) create(ctx context.Context, a app.Actor, n identity.NewAPIToken) (identity.Token, string, error) {
	if n.User == "" || n.User == a.User && a.Home == "" {
		return p.Tokens.CreateToken(ctx, a, n)
	}
	return p.Tokens.CreateRobotToken(ctx, a, n)
}

type apiTokenID struct {
	ID int64 `path:"id" minimum:"1" doc:"ID of the token"`
}

type apiTokenGone struct {
	Body struct {
		Revoked int64 `json:"revoked"`
	}
}

func (p *tokens) APIRevoke(ctx context.Context, in *apiTokenID) (*apiTokenGone, error) {
	if err := p.Tokens.RevokeToken(ctx, site.Caller(ctx), in.ID); err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiTokenGone{}
	out.Body.Revoked = in.ID
	return out, nil
}
