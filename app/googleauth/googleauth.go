package googleauth

import (
	"fmt"
	"net/http"

	"cloud.google.com/go/auth"
)

// Scope is OAuth's cloud-platform scope, which leaves what is allowed to the roles of the account.
const Scope = "https://www.googleapis.com/auth/cloud-platform"

// Transport returns a round tripper that adds a token of creds to each request and sends it through base. Users' own credentials name the
// project that pays for quota; that header is added too.
func Transport(base http.RoundTripper, creds *auth.Credentials) http.RoundTripper {
	return &transport{base: base, creds: creds}
}

type transport struct {
	base  http.RoundTripper
	creds *auth.Credentials
}

// RoundTrip closes the body in every case, as http.RoundTripper wants.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.creds.Token(r.Context())
	if err == nil && token.Value == "" {
		err = fmt.Errorf("googleauth: the token is empty")
	}
	var project string
	if err == nil {
		project, err = t.creds.QuotaProjectID(r.Context())
	}
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	kind := token.Type
	if kind == "" {
		kind = "Bearer"
	}
	r.Header.Set("Authorization", kind+" "+token.Value)
	if project != "" && r.Header.Get("X-Goog-User-Project") == "" {
		r.Header.Set("X-Goog-User-Project", project)
	}
	return t.base.RoundTrip(r)
}

// CloseIdleConnections closes those of the base.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
