package oidc

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"muster/app"
	"muster/app/identity"
)

// distrust is the error for an invalid answer. Details are for the log.
func (p *Provider) distrust(why string, cause error) error {
	return &app.Error{Code: app.EUnauthorized, Reason: "answer", Message: fmt.Sprintf("The response from %s is invalid. %s", p.c.Label, why),
		Hint: "Sign in again. If the problem persists, contact your Muster operator.", Err: cause}
}

// wordsOf says why an ID token is invalid.
func wordsOf(err error) string {
	var expired *oidc.TokenExpiredError
	text := err.Error()
	switch {
	case errors.As(err, &expired):
		return "Its ID token has expired, or the clocks differ."
	case strings.Contains(text, "issued by a different provider"):
		return "Its ID token is from another provider."
	case strings.Contains(text, "audience"):
		return "Its ID token is for another service."
	case strings.Contains(text, "before the nbf"):
		return "Its ID token isn't valid yet: the clocks differ."
	}
	return "The signature of its ID token is invalid."
}

// refused explains a provider's error answer.
func (p *Provider) refused(answer url.Values) error {
	code := answer.Get("error")
	e := &app.Error{Code: app.EForbidden, Reason: "refused", Hint: "Try again, or contact the admins of " + p.c.Label + ".",
		Err: fmt.Errorf("the provider answered %q", identity.CleanText(code, 100))}
	switch code {
	case "access_denied":
		e.Message = fmt.Sprintf("%s denied access, or you declined to share your profile.", p.c.Label)
	case "login_required", "interaction_required", "account_selection_required", "consent_required":
		e.Message = fmt.Sprintf("Sign in to %s first.", p.c.Label)
	case "temporarily_unavailable", "server_error":
		e.Code, e.Message = app.ETransient, fmt.Sprintf("%s is temporarily unavailable.", p.c.Label)
	case "invalid_scope", "unauthorized_client", "invalid_request", "unsupported_response_type":
		e.Code, e.Message = app.ECredentials, fmt.Sprintf("%s rejected Muster's request: %s.", p.c.Label, strings.ReplaceAll(code, "_", " "))
		e.Hint = "Your Muster operator must fix the settings at the provider."
	default:
		e.Message = fmt.Sprintf("%s couldn't sign you in.", p.c.Label)
	}
	if said := identity.CleanText(answer.Get("error_description"), 200); said != "" {
		e.Hint = fmt.Sprintf("%s says: %s. %s", p.c.Label, strings.TrimRight(said, ". "), e.Hint)
	}
	return e
}

// noExchange explains why a code couldn't be exchanged for a token.
func (p *Provider) noExchange(err error) error {
	var said *oauth2.RetrieveError
	if !errors.As(err, &said) {
		return &app.Error{Code: app.ETransient, Reason: "provider", Message: fmt.Sprintf("%s isn't responding.", p.c.Label), Hint: "Try again in a moment.", Err: err}
	}
	// The answer's body isn't logged.
	cause := fmt.Errorf("the token endpoint answered %q", identity.CleanText(said.ErrorCode, 100))
	switch said.ErrorCode {
	case "invalid_grant":
		return &app.Error{Code: app.EUnauthorized, Reason: "code", Message: fmt.Sprintf("%s says this sign-in was already used or has expired.", p.c.Label), Hint: "Sign in again.", Err: cause}
	case "invalid_client", "unauthorized_client":
		return &app.Error{Code: app.ECredentials, Reason: "client", Message: fmt.Sprintf("%s rejected Muster's client ID or secret.", p.c.Label),
			Hint: "Your Muster operator must correct the client ID or secret.", Err: cause}
	}
	return &app.Error{Code: app.ETransient, Reason: "provider", Message: fmt.Sprintf("%s couldn't confirm who you are.", p.c.Label), Hint: "Try again in a moment.", Err: cause}
}
