package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"muster/app"
	"muster/app/identity"
)

const (
	skew       = time.Minute      // accepted difference between the provider's clock and ours
	answerTime = 10 * time.Second // timeout of a request
	answerSize = 1 << 20          // maximum bytes of an answer
	knownFor   = time.Hour        // how long a provider's metadata is cached
	giveUpFor  = 5 * time.Second  // after a failure, requests fail at once for this long
)

// Provider is an identity provider. It is safe for concurrent use.
type Provider struct {
	c      Config
	client *http.Client

	mu     sync.Mutex
	known  *reported
	failed error
	asked  time.Time
}

// told is a provider's metadata.
type reported struct {
	provider *oidc.Provider
	EndPoint string `json:"end_session_endpoint"`
	UserInfo string `json:"userinfo_endpoint"`
	TellsIss bool   `json:"authorization_response_iss_parameter_supported"`
}

// New checks the settings of a provider. It doesn't contact the provider, so Muster starts without it.
func New(c Config) (*Provider, error) {
	if c.Label == "" {
		c.Label = c.Name
	}
	if c.Scopes == nil {
		c.Scopes = []string{"profile", "email"}
	}
	for to, fallback := range map[*string]string{&c.NameClaim: "preferred_username", &c.EmailClaim: "email", &c.GroupsClaim: "groups"} {
		if *to == "" {
			*to = fallback
		}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Provider{c: c, client: bounded(c.HTTP)}, nil
}

// bounded returns a client with limits on the time and size of answers, which follows no redirects.
func bounded(from *http.Client) *http.Client {
	c := http.Client{}
	if from != nil {
		c = *from
	}
	if c.Timeout == 0 {
		c.Timeout = answerTime
	}
	c.Jar = nil
	c.CheckRedirect = func(*http.Request, []*http.Request) error {
		return errors.New("the provider redirects a request that isn't a browser's")
	}
	through := c.Transport
	if through == nil {
		through = http.DefaultTransport
	}
	c.Transport = short{through}
	return &c
}

type short struct{ http.RoundTripper }

// RoundTrip limits the size of an answer.
func (s short) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, answerSize)
	}
	return res, err
}

// Name is the provider's name in addresses.
func (p *Provider) Name() string { return p.c.Name }

// Label is the provider's display name.
func (p *Provider) Label() string { return p.c.Label }

// ask returns the provider's metadata. The cached metadata stays valid while the provider isn't responding.
func (p *Provider) ask(ctx context.Context) (*reported, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.c.Now()
	switch since := now.Sub(p.asked); {
	case p.known != nil && p.failed == nil && since < knownFor, p.known != nil && p.failed != nil && since < giveUpFor:
		return p.known, nil
	case p.failed != nil && since < giveUpFor:
		return nil, p.failed
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	p.asked = now
	// The provider's keys are fetched later with this context, so it must outlive the request.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.c.Issuer)
	t := &reported{provider: found}
	if err == nil {
		err = found.Claims(t)
	}
	if err == nil {
		for _, u := range []string{found.Endpoint().AuthURL, found.Endpoint().TokenURL} {
			err = errors.Join(err, safeURL(u))
		}
	}
	if err != nil {
		p.failed = &app.Error{Code: app.ETransient, Reason: "provider", Message: fmt.Sprintf("%s isn't responding as an identity provider.", p.c.Label),
			Hint: "Try again in a moment. If the problem persists, ask your Muster operator to check the server log.", Err: err}
		if p.known != nil {
			return p.known, nil
		}
		return nil, p.failed
	}
	p.known, p.failed = t, nil
	return t, nil
}

func (p *Provider) oauth(t *reported) *oauth2.Config {
	return &oauth2.Config{ClientID: p.c.ClientID, ClientSecret: p.c.ClientSecret, Endpoint: t.provider.Endpoint(), RedirectURL: p.c.RedirectURL,
		Scopes: append([]string{oidc.ScopeOpenID}, p.c.Scopes...)}
}

// begun is the state of a sign-in that was redirected to the provider.
type begun struct {
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Again    bool      `json:"a,omitempty"`
	At       time.Time `json:"t"`
}

// Start returns the address for the browser, the state that its return carries, and the secret for Finish.
func (p *Provider) Start(ctx context.Context, again bool) (to, state, secret string, err error) {
	t, err := p.ask(ctx)
	if err != nil {
		return "", "", "", err
	}
	b := begun{Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Again: again, At: p.c.Now()}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(b.Verifier), oidc.Nonce(b.Nonce)}
	if again {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	kept, err := json.Marshal(b)
	state = rand.Text()
	return p.oauth(t).AuthCodeURL(state, options...), state, string(kept), err
}

// Finish checks the answer that the browser returned with, and returns who signed in.
func (p *Provider) Finish(ctx context.Context, secret string, answer url.Values) (identity.Subject, error) {
	var b begun
	if err := json.Unmarshal([]byte(secret), &b); err != nil {
		return identity.Subject{}, fmt.Errorf("oidc: %s: decode sign-in state: %w", p.c.Name, err)
	}
	t, err := p.ask(ctx)
	if err != nil {
		return identity.Subject{}, err
	}
	if iss := answer.Get("iss"); iss != "" && iss != p.c.Issuer || iss == "" && t.TellsIss {
		return identity.Subject{}, p.distrust("It came from another provider.", fmt.Errorf("iss is %q", iss))
	}
	if answer.Get("error") != "" {
		return identity.Subject{}, p.refused(answer)
	}
	if answer.Get("code") == "" {
		return identity.Subject{}, p.distrust("It has no code.", nil)
	}
	web := oidc.ClientContext(ctx, p.client)
	token, err := p.oauth(t).Exchange(web, answer.Get("code"), oauth2.VerifierOption(b.Verifier))
	if err != nil {
		return identity.Subject{}, p.noExchange(err)
	}
	id, of, err := p.verify(web, t, token, b)
	if err != nil {
		return identity.Subject{}, err
	}
	if _, there := of.at(p.c.GroupsClaim); !there && t.UserInfo != "" {
		if err := p.addInfo(web, t, token, id.Subject, of); err != nil {
			return identity.Subject{}, err
		}
	}
	s, err := p.c.subject(id.Subject, of)
	if err != nil {
		return s, p.distrust("It doesn't say who you are.", err)
	}
	return s, nil
}

// verify checks the ID token: signature, issuer, audience, times, nonce.
func (p *Provider) verify(ctx context.Context, t *reported, token *oauth2.Token, b begun) (*oidc.IDToken, claims, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, nil, p.distrust("It has no ID token.", nil)
	}
	now := p.c.Now()
	// An ID token that just expired by our clock may still be valid by the provider's.
	check := t.provider.Verifier(&oidc.Config{ClientID: p.c.ClientID, Now: func() time.Time { return now.Add(-skew) }})
	id, err := check.Verify(ctx, raw)
	if err != nil {
		return nil, nil, p.distrust(wordsOf(err), err)
	}
	of := claims{}
	if err := id.Claims(&of); err != nil {
		return nil, nil, p.distrust("It can't be read.", err)
	}
	switch azp := of.text("azp"); {
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(b.Nonce)) != 1:
		return nil, nil, p.distrust("It belongs to another sign-in.", errors.New("the nonce doesn't match"))
	case azp != "" && azp != p.c.ClientID, azp == "" && len(id.Audience) > 1 && !slices.Contains(id.Audience[:1], p.c.ClientID):
		return nil, nil, p.distrust("Its ID token is for another service.", fmt.Errorf("azp is %q", azp))
	case id.IssuedAt.Sub(now) > 5*time.Minute:
		return nil, nil, p.distrust("Its ID token isn't valid yet: the clocks differ.", fmt.Errorf("iat is %s", id.IssuedAt))
	case id.Subject == "" || len(id.Subject) > 255:
		return nil, nil, p.distrust("It doesn't say who you are.", errors.New("sub is missing or too long"))
	}
	if b.Again {
		at, _ := of["auth_time"].(float64)
		if at == 0 || time.Unix(int64(at), 0).Before(b.At.Add(-skew)) {
			return nil, nil, &app.Error{Code: app.EForbidden, Reason: "not_again", Message: fmt.Sprintf("%s didn't re-authenticate you.", p.c.Label),
				Hint: "Sign out of " + p.c.Label + " and try again."}
		}
	}
	if id.AccessTokenHash != "" {
		if err := id.VerifyAccessToken(token.AccessToken); err != nil {
			return nil, nil, p.distrust("Its tokens don't match.", err)
		}
	}
	return id, of, nil
}

// addInfo adds claims from the userinfo endpoint. It doesn't overwrite claims of the ID token.
func (p *Provider) addInfo(ctx context.Context, t *reported, token *oauth2.Token, subject string, of claims) error {
	info, err := t.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return &app.Error{Code: app.ETransient, Reason: "provider", Message: fmt.Sprintf("%s couldn't return your groups.", p.c.Label), Hint: "Try again in a moment.", Err: err}
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return p.distrust("It can't be read.", err)
	}
	if info.Subject != subject {
		return p.distrust("It is about another user.", fmt.Errorf("userinfo is of %q", info.Subject))
	}
	for name, v := range more {
		if _, there := of[name]; !there {
			of[name] = v
		}
	}
	return nil
}

// Leave returns the address for the browser to sign out at the provider; "" if the provider has none or isn't responding.
func (p *Provider) Leave(ctx context.Context) string {
	t, err := p.ask(ctx)
	if err != nil || t.EndPoint == "" || safeURL(t.EndPoint) != nil {
		return ""
	}
	u, err := url.Parse(t.EndPoint)
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.c.ClientID)
	if p.c.HomeURL != "" {
		q.Set("post_logout_redirect_uri", p.c.HomeURL)
	}
	u.RawQuery = q.Encode()
	return u.String()
}
