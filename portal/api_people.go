package portal

import (
	"context"

	"muster/app"
	"muster/app/identity"
)

// People is a power that a Muster may have: to say who works in a tenant, and as what.
type People interface {
	// Users gives accounts by name, and whether there are more.
	Users(ctx context.Context, a app.Actor, f identity.UserFilter) ([]app.User, bool, error)
	User(ctx context.Context, a app.Actor, name string) (identity.UserView, error)
	// CreateUser gives the one-time password, which cannot be read again; "" for robots.
	CreateUser(ctx context.Context, a app.Actor, n identity.NewUser) (identity.UserView, string, error)
	ChangeUser(ctx context.Context, a app.Actor, name string, c identity.UserChange) (identity.UserView, error)
	// ResetUserPassword gives a new one-time password.
	ResetUserPassword(ctx context.Context, a app.Actor, name string) (string, error)
	// DeleteUser is EConflict while the user owns live clusters and transferTo is "".
	DeleteUser(ctx context.Context, a app.Actor, name, transferTo string) error

	Groups(ctx context.Context, a app.Actor) ([]identity.Group, error)
	SaveGroup(ctx context.Context, a app.Actor, c identity.GroupChange) (identity.Group, error)
	DeleteGroup(ctx context.Context, a app.Actor, name string) error

	// Tokens gives the actor's own, or for admins those of the tenant; user narrows it.
	Tokens(ctx context.Context, a app.Actor, user string) ([]app.Token, error)
	// CreateToken and CreateRobotToken give the token, which cannot be read again.
	CreateToken(ctx context.Context, a app.Actor, n identity.NewAPIToken) (app.Token, string, error)
	CreateRobotToken(ctx context.Context, a app.Actor, n identity.NewAPIToken) (app.Token, string, error)
	RevokeToken(ctx context.Context, a app.Actor, id int64) error
}

// people gives the use cases of people, or nil.
func (p *Portal) people() People {
	m, _ := p.muster.(People)
	return m
}

type apiUserList struct {
	Body struct {
		Users []app.User `json:"users"`
		More  bool       `json:"more" doc:"There are more, by name after the last one"`
	}
}

func (p *Portal) apiUserList(ctx context.Context, in *struct {
	Search string `query:"search" maxLength:"100" doc:"Part of name, full name or e-mail address"`
	Role   string `query:"role" maxLength:"20"`
	After  string `query:"after" maxLength:"63" doc:"The name of the last one of the page before"`
	Limit  int    `query:"limit" minimum:"0" maximum:"500" doc:"How many at most; 0 is 100"`
}) (*apiUserList, error) {
	users, more, err := p.people().Users(ctx, caller(ctx), identity.UserFilter{Search: in.Search, Role: app.Role(in.Role), After: in.After, Limit: in.Limit})
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &apiUserList{}
	out.Body.Users, out.Body.More = users, more
	return out, nil
}

type apiUserName struct {
	Name string `path:"name" maxLength:"63" doc:"The user's name"`
}

type apiUser struct{ Body identity.UserView }

func (p *Portal) apiUserShow(ctx context.Context, in *apiUserName) (*apiUser, error) {
	v, err := p.people().User(ctx, caller(ctx), in.Name)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &apiUser{v}, nil
}

type apiNewUser struct {
	Body struct {
		User     identity.UserView `json:"user"`
		Password string            `json:"password,omitempty" doc:"To be changed at the first sign-in; it cannot be read again. Robots have none"`
	}
}

func (p *Portal) apiUserCreate(ctx context.Context, in *struct{ Body identity.NewUser }) (*apiNewUser, error) {
	v, password, err := p.people().CreateUser(ctx, caller(ctx), in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &apiNewUser{}
	out.Body.User, out.Body.Password = v, password
	return out, nil
}

func (p *Portal) apiUserChange(ctx context.Context, in *struct {
	Name string `path:"name" maxLength:"63" doc:"The user's name"`
	Body identity.UserChange
}) (*apiUser, error) {
	v, err := p.people().ChangeUser(ctx, caller(ctx), in.Name, in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &apiUser{v}, nil
}

type apiPassword struct {
	Body struct {
		Password string `json:"password" doc:"To be changed at the next sign-in; it cannot be read again"`
	}
}

func (p *Portal) apiUserReset(ctx context.Context, in *apiUserName) (*apiPassword, error) {
	password, err := p.people().ResetUserPassword(ctx, caller(ctx), in.Name)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &apiPassword{}
	out.Body.Password = password
	return out, nil
}

// deleted names what is gone.
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

func (p *Portal) apiUserDelete(ctx context.Context, in *struct {
	Name       string `path:"name" maxLength:"63" doc:"The user's name"`
	TransferTo string `query:"transfer_to" maxLength:"63" doc:"The user who gets the live clusters"`
}) (*deleted, error) {
	if err := p.people().DeleteUser(ctx, caller(ctx), in.Name, in.TransferTo); err != nil {
		return nil, p.fail(ctx, err)
	}
	return gone(in.Name), nil
}

type apiGroupList struct {
	Body struct {
		Groups []identity.Group `json:"groups"`
	}
}

func (p *Portal) apiGroupList(ctx context.Context, _ *struct{}) (*apiGroupList, error) {
	all, err := p.people().Groups(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &apiGroupList{}
	out.Body.Groups = all
	return out, nil
}

// Names of groups may have '/', so they stand in the query and not in the path.
type apiGroup struct{ Body identity.Group }

func (p *Portal) apiGroupSave(ctx context.Context, in *struct{ Body identity.GroupChange }) (*apiGroup, error) {
	g, err := p.people().SaveGroup(ctx, caller(ctx), in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &apiGroup{g}, nil
}

func (p *Portal) apiGroupDelete(ctx context.Context, in *struct {
	Name string `query:"name" required:"true" maxLength:"63" doc:"The group's name"`
}) (*deleted, error) {
	if err := p.people().DeleteGroup(ctx, caller(ctx), in.Name); err != nil {
		return nil, p.fail(ctx, err)
	}
	return gone(in.Name), nil
}

type apiTokenList struct {
	Body struct {
		Tokens []app.Token `json:"tokens"`
	}
}

func (p *Portal) apiTokenList(ctx context.Context, in *struct {
	User string `query:"user" maxLength:"63" doc:"Only those of this user"`
}) (*apiTokenList, error) {
	all, err := p.people().Tokens(ctx, caller(ctx), in.User)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &apiTokenList{}
	out.Body.Tokens = all
	return out, nil
}

type apiNewToken struct {
	Body struct {
		Token  app.Token `json:"token"`
		Secret string    `json:"secret" doc:"Send it as Authorization: Bearer; it cannot be read again"`
	}
}

func (p *Portal) apiTokenCreate(ctx context.Context, in *struct{ Body identity.NewAPIToken }) (*apiNewToken, error) {
	t, secret, err := p.createToken(ctx, caller(ctx), in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &apiNewToken{}
	out.Body.Token, out.Body.Secret = t, secret
	return out, nil
}

// createToken makes a token of the actor's own, or of the robot named.
func (p *Portal) createToken(ctx context.Context, a app.Actor, n identity.NewAPIToken) (app.Token, string, error) {
	if n.User == "" || n.User == a.User && a.Home == "" {
		return p.people().CreateToken(ctx, a, n)
	}
	return p.people().CreateRobotToken(ctx, a, n)
}

type apiTokenID struct {
	ID int64 `path:"id" minimum:"1" doc:"The token's number"`
}

type apiTokenGone struct {
	Body struct {
		Revoked int64 `json:"revoked"`
	}
}

func (p *Portal) apiTokenRevoke(ctx context.Context, in *apiTokenID) (*apiTokenGone, error) {
	if err := p.people().RevokeToken(ctx, caller(ctx), in.ID); err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &apiTokenGone{}
	out.Body.Revoked = in.ID
	return out, nil
}
