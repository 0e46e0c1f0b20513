package slacktest

import (
	"slices"
	"strings"
	"time"
)

// oauthAPI plays oauth.v2.*: consent and tokens.
type oauthAPI struct {
	*core
	codes map[string]*code
}

// token is one by which the app acts in a workspace.
type token struct {
	team    *Workspace
	value   string
	expires time.Time // zero: never
	refresh string    // one-time refresh token
	used    bool      // the refresh was taken
	revoked bool
}

// code is what a browser brings back from Slack's page of consent.
type code struct {
	team     *Workspace
	redirect string
	by       *User
	made     time.Time
	used     bool
}

// Consent is someone saying yes to the app on Slack's page, which was opened with these parameters; it returns the code that the
// browser brings to the redirect address. What the page was asked is checked.
func (u *User) Consent(clientID, scopes, redirect string) string {
	s := u.w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if clientID != s.c.ClientID {
		s.violate("oauth.client_id", "oauth/v2/authorize", "%q is not the app's", clientID)
	}
	for _, scope := range strings.Split(scopes, ",") {
		if s.c.Scopes != nil && !slices.Contains(s.c.Scopes, scope) {
			s.violate("oauth.scope", "oauth/v2/authorize", "%q is not in the app's manifest", scope)
		}
	}
	value := s.next("code-")
	s.codes[value] = &code{team: u.w, redirect: redirect, by: u, made: s.now()}
	return value
}

// access returns tokens for a code, or for a token that refreshes another.
func (s *oauthAPI) access(c *call) object {
	id, secret, basic := c.r.BasicAuth()
	if !basic {
		id, secret = c.str("client_id"), c.str("client_secret")
	}
	if id != s.c.ClientID || id == "" {
		return internalError("invalid_client_id")
	}
	if secret != s.c.ClientSecret {
		return internalError("bad_client_secret")
	}
	if c.str("grant_type") == "refresh_token" {
		return s.refresh(c)
	}
	given := s.codes[c.str("code")]
	switch {
	case given == nil:
		return internalError("invalid_code")
	case given.used:
		s.violate("oauth.code", c.method, "a code that was used already")
		return internalError("code_already_used")
	case s.now().Sub(given.made) > codeLife:
		return internalError("invalid_code")
	case given.redirect != c.str("redirect_uri"):
		return internalError("bad_redirect_uri")
	}
	given.used, given.team.installed, c.team = true, true, given.team
	return s.grant(given.team, given.by)
}

// grant makes a pair of tokens.
func (s *oauthAPI) grant(w *Workspace, by *User) object {
	t := &token{team: w, value: s.next("xoxe.xoxb-" + w.ID + "-"), refresh: s.next("xoxe-" + w.ID + "-"), expires: s.now().Add(tokenLife)}
	w.tokens[t.value] = t
	answer := object{"access_token": t.value, "token_type": "bot", "scope": strings.Join(s.c.Scopes, ","), "bot_user_id": w.Bot, "app_id": s.c.AppID,
		"team": object{"id": w.ID, "name": w.Domain}, "enterprise": nil, "is_enterprise_install": false, "expires_in": int(tokenLife / time.Second), "refresh_token": t.refresh}
	if by != nil {
		answer["authed_user"] = object{"id": by.ID}
	}
	return answer
}

func (s *oauthAPI) refresh(c *call) object {
	for _, w := range s.teams {
		for _, t := range w.tokens {
			switch {
			case t.refresh == "" || t.refresh != c.str("refresh_token"):
				continue
			case t.used:
				s.violate("oauth.refresh", c.method, "a refresh token of %s that was used already", w.ID)
				return internalError("invalid_refresh_token")
			case t.revoked || !w.installed:
				return internalError("invalid_refresh_token")
			}
			t.used, c.team = true, w
			return s.grant(w, nil)
		}
	}
	return internalError("invalid_refresh_token")
}

func (s *oauthAPI) revoke(c *call) object {
	c.team.tokens[c.secret].revoked = true
	return object{"revoked": true}
}

func (s *oauthAPI) uninstall(c *call) object {
	if c.str("client_id") != s.c.ClientID || c.str("client_secret") != s.c.ClientSecret {
		return internalError("invalid_client_id")
	}
	c.team.remove()
	return object{}
}

// remove ends all tokens of the app in the workspace; the lock is held.
func (w *Workspace) remove() {
	w.installed = false
	for _, t := range w.tokens {
		t.revoked = true
	}
}

// Installed reports whether the app is in the workspace.
func (w *Workspace) Installed() bool {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.installed
}
