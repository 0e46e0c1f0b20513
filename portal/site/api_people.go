package site

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

// People gives the use cases of people, or nil.
func (p *Site) People() People {
	m, _ := p.Muster.(People)
	return m
}
