package identity

import (
	"context"
	"time"

	"muster/app"
)

// What the database keeps is the only truth. Each method of the interfaces whose names end in Store, of Ledger and of Feed is one transaction: it happens as a
// whole or not at all. Errors are *Error (ENotFound, EConflict, EStale) or unexpected. Reads of a tenant's rows name the tenant; a row of another
// tenant is ENotFound.

// PeopleStore keeps accounts, tokens and the installation's own facts.
type PeopleStore interface {
	// Installation gives this installation's id, made when the store was first opened.
	Installation(ctx context.Context) (string, error)
	// CreateUser adds an account on behalf of nobody; EConflict where the name is taken. Its tenant comes to be with it.
	CreateUser(ctx context.Context, u User) error
	// SetPassword sets that of an account of the actor's tenant, and ends its tokens and sign-ins.
	SetPassword(ctx context.Context, who app.Actor, name, hash string, at time.Time) error
	// User gives an account with its groups, or ENotFound.
	User(ctx context.Context, tenant, name string) (User, error)
	CountUsers(ctx context.Context) (int, error)
	// ReplaceToken keeps a token's hash. The newest token of the same user and label replaces the older.
	ReplaceToken(ctx context.Context, who app.Actor, t Token, hash []byte) error
	// UserOfToken gives the token of a hash, with its account as it is now, or ENotFound.
	UserOfToken(ctx context.Context, hash []byte) (User, Token, error)
	// UsedToken notes when, and from which address, a token was last used, and that its user was there.
	UsedToken(ctx context.Context, t Token, at time.Time, from string) error
}
