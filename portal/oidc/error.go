package oidc

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"muster/app"
)

// distrust says that an answer is not believed. Why exactly is for the log.
func (p *Provider) distrust(why string, cause error) error {
	return &app.Error{Code: app.EUnauthorized, Reason: "answer", Message: fmt.Sprintf("The answer of %s cannot be trusted. %s", p.c.Label, why),
		Hint: "Begin again. If it stays so, tell whoever looks after this Muster.", Err: cause}
}

// wordsOf says why an ID token is not believed.
func wordsOf(err error) string {
	var expired *oidc.TokenExpiredError
	text := err.Error()
	switch {
	case errors.As(err, &expired):
		return "It has expired, or the clocks differ."
	case strings.Contains(text, "issued by a different provider"):
		return "It was made by another provider."
	case strings.Contains(text, "audience"):
		return "It was made for another service."
	case strings.Contains(text, "before the nbf"):
		return "It is from the future: the clocks differ."
	}
	return "Its signature is not right."
}

// refused says in words what a provider answers instead of a code.
func (p *Provider) refused(answer url.Values) error {
	code := answer.Get("error")
	e := &app.Error{Code: app.EForbidden, Reason: "refused", Hint: "Try again, or ask those who look after " + p.c.Label + ".", Err: fmt.Errorf("the provider answers %q", clean(code, 100))}
	switch code {
	case "access_denied":
		e.Message = fmt.Sprintf("%s did not let you in, or you did not let it tell us who you are.", p.c.Label)
	case "login_required", "interaction_required", "account_selection_required", "consent_required":
		e.Message = fmt.Sprintf("%s wants you to sign in there first.", p.c.Label)
	case "temporarily_unavailable", "server_error":
		e.Code, e.Message = app.ETransient, fmt.Sprintf("%s cannot sign in anybody just now.", p.c.Label)
	case "invalid_scope", "unauthorized_client", "invalid_request", "unsupported_response_type":
		e.Code, e.Message = app.ECredentials, fmt.Sprintf("%s does not accept how this Muster asks: %s.", p.c.Label, strings.ReplaceAll(code, "_", " "))
		e.Hint = "Whoever looks after this Muster must set it right there."
	default:
		e.Message = fmt.Sprintf("%s did not sign you in.", p.c.Label)
	}
	if said := clean(answer.Get("error_description"), 200); said != "" {
		e.Hint = fmt.Sprintf("It says: %s. %s", strings.TrimRight(said, ". "), e.Hint)
	}
	return e
}

// noExchange says why a code could not be turned into a token.
func (p *Provider) noExchange(err error) error {
	var said *oauth2.RetrieveError
	if !errors.As(err, &said) {
		return &app.Error{Code: app.ETransient, Reason: "provider", Message: fmt.Sprintf("%s does not answer.", p.c.Label), Hint: "Try again in a moment.", Err: err}
	}
	// The body of the answer is left out of what is logged.
	cause := fmt.Errorf("the token endpoint answers %q", clean(said.ErrorCode, 100))
	switch said.ErrorCode {
	case "invalid_grant":
		return &app.Error{Code: app.EUnauthorized, Reason: "code", Message: fmt.Sprintf("%s says that this sign-in was used already or took too long.", p.c.Label), Hint: "Begin again.", Err: cause}
	case "invalid_client", "unauthorized_client":
		return &app.Error{Code: app.ECredentials, Reason: "client", Message: fmt.Sprintf("%s does not know this Muster: its client id or secret is wrong.", p.c.Label),
			Hint: "Whoever looks after this Muster must set it right.", Err: cause}
	}
	return &app.Error{Code: app.ETransient, Reason: "provider", Message: fmt.Sprintf("%s does not tell who you are.", p.c.Label), Hint: "Try again in a moment.", Err: cause}
}
