package digitalocean

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/digitalocean/godo"

	"muster/app"
	"muster/providers/internal/account"
)

const (
	hintToken  = "Create a personal access token in the control panel under API, and save it in the account's token setting."
	hintScopes = "A token's scopes can't be changed: create a token with the scopes listed in docs/providers/digitalocean.md, and save it in the account's token setting."
	hintLimit  = "Delete unused droplets, or ask DigitalOcean for a higher limit (Settings, Team, Resource limits)."
	// whenToAsk is for answers that do not say it: the limit that is reached first is counted by the minute.
	whenToAsk = time.Minute
)

// failure returns an error of the SDK its code. Scope is the one that the call needs, such as droplet:create. What never came to an answer is left to
// the family's
// wrapper.
func failure(scope string, err error) error {
	var answer *godo.ErrorResponse
	var argument *godo.ArgError
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		return refusal(scope, answer)
	case errors.As(err, &argument):
		return app.Errorf(app.EInvalid, "Can't send the request to DigitalOcean: %w", err)
	case errors.As(err, &syntax), errors.As(err, &kind):
		return app.Errorf(app.ETransient, "Can't parse DigitalOcean's response: %w", err)
	}
	return err
}

func refusal(scope string, answer *godo.ErrorResponse) *app.Error {
	message := strings.TrimSpace(answer.Message)
	e := account.Status(answer.Response.StatusCode, answer.Response.Header, message)
	if message != "" && !strings.HasPrefix(message, "<") { // a proxy's page says nothing to anybody
		e.Message = "DigitalOcean responded: " + strings.TrimSuffix(message, ".") + "."
	} else {
		e.Message = "DigitalOcean responded " + answer.Response.Status + "."
	}
	switch answer.Response.StatusCode {
	case http.StatusUnauthorized:
		e.Message, e.Hint = "DigitalOcean rejected the token.", hintToken
	case http.StatusForbidden:
		e.Reason, e.Hint = "scope", hintScopes
		e.Message = "The token isn't allowed to do this: it, or its owner's role, lacks the scope " + scope + "."
		if strings.Contains(strings.ToLower(message), "locked") {
			e.Reason, e.Hint, e.Message = "locked", "Contact DigitalOcean's support.", "The account is locked."
		}
	case http.StatusConflict:
		e.Code = app.ETransient // something else is happening to it now
	case http.StatusTooManyRequests:
		e.RetryAfter = cmp.Or(e.RetryAfter, whenToAsk)
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		unprocessable(e, strings.ToLower(message))
	case http.StatusPreconditionFailed, http.StatusLocked:
		e.Code = app.ETransient
	}
	return e
}

// unprocessable tells apart what DigitalOcean returns the same status.
func unprocessable(e *app.Error, said string) {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("limit"):
		e.Code, e.Hint = app.EQuota, hintLimit
	case has("pending event", "locked", "in progress", "try again"):
		e.Code = app.ETransient
	case has("image"):
		e.Hint = "Use the image's slug or number. An image is only available in the regions it was copied to."
	case has("unavailable", "not available", "capacity", "out of stock"):
		e.Code, e.Hint = app.ECapacity, "Choose another size or region."
	}
}

// refused tells that nothing was made, and that asking again soon will not help.
func refused(err error) bool {
	switch app.CodeOf(err) {
	case app.ECredentials, app.ECapacity, app.EQuota, app.ENotFound, app.EInvalid:
		return true
	}
	return false
}

func absent(err error) bool { return app.CodeOf(err) == app.ENotFound }

// forbidden tells that the token lacks a scope.
func forbidden(err error) bool {
	var e *app.Error
	return errors.As(err, &e) && e.Reason == "scope"
}
