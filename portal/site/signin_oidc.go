package site

import (
	"context"
	"net/url"

	"muster/app/identity"
)

// IdentityProvider is a place elsewhere where people prove who they are. Errors are *app.Error, in words for the person.
type IdentityProvider interface {
	// Name stands in addresses, Label on buttons.
	Name() string
	Label() string
	// Start gives where to send the browser, the state by which its return is known, and what Finish needs to check the answer,
	// which is kept for no one but us. Again asks that the person proves again who they are.
	Start(ctx context.Context, again bool) (to, state, secret string, err error)
	// Finish checks the answer that the browser has brought, and says who it was.
	Finish(ctx context.Context, secret string, answer url.Values) (identity.Subject, error)
	// Leave gives where to send the browser so that the person is signed out there too; "" where that is not possible.
	Leave(ctx context.Context) string
}
