package site

import (
	"context"
	"net/url"

	"muster/app/identity"
)

// IdentityProvider is an external identity provider. Errors are *app.Error, for people.
type IdentityProvider interface {
	// Name is used in paths, Label on buttons.
	Name() string
	Label() string
	// Start returns the URL for the browser, the state that identifies its return, and secret data for Finish. Again requires the person to
	// re-authenticate.
	Start(ctx context.Context, again bool) (to, state, secret string, err error)
	// Finish verifies the browser's response, and returns the person.
	Finish(ctx context.Context, secret string, answer url.Values) (identity.Subject, error)
	// Leave returns the URL to sign out at the provider too; "" if that isn't possible.
	Leave(ctx context.Context) string
}
