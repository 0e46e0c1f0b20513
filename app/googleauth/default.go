package googleauth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
)

// Default finds the credentials of this host as Google's own tools do. It returns a round tripper that puts their tokens on requests, and the
// domain below which their services are: googleapis.com, unless the credentials are for a cloud that Google runs under another name.
// A domain that is named is used instead. A client with this round tripper should be one that Client makes.
func Default(ctx context.Context, base http.RoundTripper, domain string) (http.RoundTripper, string, error) {
	creds, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{Scope}, UniverseDomain: domain,
		Client: &http.Client{Transport: base, Timeout: 30 * time.Second}})
	if err != nil {
		return nil, "", err
	}
	if domain == "" {
		if domain, err = creds.UniverseDomain(ctx); err != nil {
			return nil, "", err
		}
	}
	return Transport(base, creds), domain, nil
}

// Client makes a client that follows no redirect: the token would go along to wherever it leads.
func Client(over http.RoundTripper) *http.Client {
	return &http.Client{Transport: over, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Refused reports whether an error says that Google issues no token for these credentials, which trying again does not change.
func Refused(err error) bool {
	var e *auth.Error
	return errors.As(err, &e) && e.Response != nil && e.Response.StatusCode >= 400 && e.Response.StatusCode < 500 && !e.Temporary()
}
