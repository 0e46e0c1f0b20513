package openstack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"muster/app"
	"muster/providers/internal/account"
)

// Token is what an identity service hands out.
type Token struct {
	ID      string
	Expires time.Time
	Project string // its id
	Roles   []string
	Catalog []Endpoint
}

// Endpoint is where a service is asked.
type Endpoint struct {
	Type   string
	Region string
	URL    string
}

// TypeCloudDNS is what Rackspace's catalog calls its own DNS service, which is one for all regions and not Designate.
const TypeCloudDNS = "rax:dns"

// Auth asks the identity service for a token. What it says no to is an *app.Error.
type Auth func(context.Context) (Token, error)

// Session is a token with the services that it opens; those that the region lacks are nil.
type Session struct {
	Token   Token
	Region  string
	Compute *gophercloud.ServiceClient
	Network *gophercloud.ServiceClient
	Image   *gophercloud.ServiceClient
	Volume  *gophercloud.ServiceClient
	DNS     *gophercloud.ServiceClient

	renew time.Time
}

// Sessions hands out sessions, and asks for a new token when the old one ends soon or was refused. It never sends a call again by itself.
type Sessions struct {
	auth   Auth
	region string
	micro  string
	client *http.Client

	turn    chan struct{} // one asks at a time
	mu      sync.Mutex
	current *Session
}

// Options say how a cloud is spoken to.
type Options struct {
	Auth         Auth
	Region       string // "" where the cloud has just one
	Microversion string // of Nova; "" where it has none
	Client       *http.Client
}

// NewSessions begins without a token.
func NewSessions(o Options) *Sessions {
	return &Sessions{auth: o.Auth, region: o.Region, micro: o.Microversion, client: o.Client, turn: make(chan struct{}, 1)}
}

// NewClient returns an HTTP client that trusts the system's authorities, or just those of a bundle of certificates in PEM form. It follows no
// redirects, for the token would go along to wherever they lead.
func NewClient(via account.Network, bundle string) (*http.Client, error) {
	transport := via.Transport()
	transport.MaxIdleConnsPerHost = 16
	if bundle != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(bundle)) {
			return nil, app.Errorf(app.EInvalid, "the certificate bundle contains no PEM certificates")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport, Timeout: 2 * time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// Unauthenticated returns what the SDK asks an identity service with.
func Unauthenticated(client *http.Client) *gophercloud.ProviderClient {
	p := &gophercloud.ProviderClient{HTTPClient: *client}
	p.UserAgent.Prepend("muster")
	return p
}

// Get returns a session whose token is good for a while.
func (s *Sessions) Get(ctx context.Context) (*Session, error) {
	if have := s.held(); have != nil {
		return have, nil
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if have := s.held(); have != nil {
		return have, nil
	}
	began := time.Now()
	token, err := s.auth(ctx)
	if err != nil {
		return nil, err
	}
	made, err := s.open(token)
	if err != nil {
		return nil, err
	}
	if !token.Expires.IsZero() {
		made.renew = token.Expires.Add(-min(2*time.Minute, token.Expires.Sub(began)/4))
	}
	s.mu.Lock()
	s.current = made
	s.mu.Unlock()
	return made, nil
}

func (s *Sessions) held() *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || !s.current.renew.IsZero() && time.Now().After(s.current.renew) {
		return nil
	}
	return s.current
}

// drop forgets a session whose token was refused.
func (s *Sessions) drop(old *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == old {
		s.current = nil
	}
}

// Close lets go of connections that wait for another call.
func (s *Sessions) Close() { s.client.CloseIdleConnections() }

// With does something with a session. Where the token is refused in the midst of it, it is done once more from its beginning with a new one: so
// whatever it makes, it must look for first.
func With[T any](ctx context.Context, s *Sessions, do func(*Session) (T, error)) (T, error) {
	var none T
	session, err := s.Get(ctx)
	if err != nil {
		return none, err
	}
	v, err := do(session)
	if !Expired(err) {
		return v, Coded(err)
	}
	s.drop(session)
	if session, err = s.Get(ctx); err != nil {
		return none, err
	}
	v, err = do(session)
	return v, Coded(err)
}

// Expired reports whether a token was refused: nothing was done then.
func Expired(err error) bool { return gophercloud.ResponseCodeIs(err, http.StatusUnauthorized) }

// open finds the services of the region in the catalog.
func (s *Sessions) open(token Token) (*Session, error) {
	p := Unauthenticated(s.client)
	p.TokenID = token.ID
	region, err := chosen(token.Catalog, s.region)
	if err != nil {
		return nil, err
	}
	service := func(kind, version string, types ...string) *gophercloud.ServiceClient {
		for _, t := range types {
			for _, e := range token.Catalog {
				if e.Type == t && (e.Region == region || e.Region == "") && e.URL != "" {
					c := &gophercloud.ServiceClient{ProviderClient: p, Endpoint: gophercloud.NormalizeURL(e.URL), Type: kind}
					if !versioned.MatchString(e.URL) {
						c.ResourceBase = c.Endpoint + version
					}
					return c
				}
			}
		}
		return nil
	}
	out := &Session{Token: token, Region: region,
		Compute: service("compute", "v2.1/", "compute"),
		Network: service("network", "v2.0/", "network"),
		Image:   service("image", "v2/", "image"),
		DNS:     service("dns", "v2/", "dns", TypeCloudDNS),
		Volume:  service("volume", "v3/"+token.Project+"/", "block-storage", "volumev3", "volume"),
	}
	if out.Compute == nil {
		return nil, missing("compute", region)
	}
	out.Compute.Microversion = s.micro
	return out, nil
}

var versioned = regexp.MustCompile(`/v[0-9]+(\.[0-9]+)?(/|$)`)

// chosen returns the region to work in: the one that is wanted, or the only one that there is.
func chosen(catalog []Endpoint, wanted string) (string, error) {
	var regions []string
	for _, e := range catalog {
		if e.Type == "compute" && !slices.Contains(regions, e.Region) {
			regions = append(regions, e.Region)
		}
	}
	slices.Sort(regions)
	switch {
	case len(regions) == 0:
		e := app.Errorf(app.EInvalid, "the account's service catalog has no compute service")
		e.Reason, e.Hint = reasonRegion, "Ask the cloud's operator whether the project can use Nova, and whether the credentials are for that project."
		return "", e
	case wanted == "" && len(regions) == 1:
		return regions[0], nil
	case wanted == "":
		e := account.Invalid("region", "the cloud has %d regions, but the region isn't set", len(regions))
		e.Reason, e.Hint = reasonRegion, "Options: "+strings.Join(regions, ", ")+"."
		return "", e
	case !slices.Contains(regions, wanted):
		e := account.Invalid("region", "region %q isn't in the service catalog", wanted)
		e.Reason, e.Hint = reasonRegion, "Options: "+strings.Join(regions, ", ")+"."
		return "", e
	}
	return wanted, nil
}

const reasonRegion = "region"

// missing is the error of a service that the region does not have.
func missing(service, region string) *app.Error {
	e := app.Errorf(app.EInvalid, "the service catalog has no %s service in region %q", service, region)
	e.Reason, e.Hint = reasonRegion, "Check the settings region and interface, or ask the cloud's operator for that service."
	return e
}

// Needs returns an error where a service is not there.
func (s *Session) Needs(service string, c *gophercloud.ServiceClient) error {
	if c == nil {
		return missing(service, s.Region)
	}
	return nil
}
