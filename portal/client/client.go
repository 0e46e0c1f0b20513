package client

import (
	"net/http"
	"net/url"
	"sync"
	"time"

	"muster/app"
)

// Settings are a server's address and the caller's credentials.
type Settings struct {
	URL   string `json:"url"` // the portal's URL, without /api
	Token string `json:"token"`
	CA    string `json:"ca_fingerprint,omitempty"` // sha256:… of the server's own CA; "" if the host trusts its certificate
}

// part is the client of each noun.
type part struct{ client *Client }

// Client calls one server, noun by noun: c.Clusters.List, c.Users.Create. Set its fields before use; then it's safe for concurrent use.
type Client struct {
	HTTP  *http.Client
	ActIn string // the tenant for a superadmin's calls; "": the token's
	Agent string // user agent; "": net/http's
	// Reload reloads the settings; nil if they can't change. A restarted server may have another address or token.
	Reload func() (Settings, error)

	Audit             *Audit
	BuildHooks        *BuildHooks
	Builds            *Builds
	Catalog           *Catalog
	Clusters          *Clusters
	Devices           *Devices
	Groups            *Groups
	Idle              *Idle
	Runs              *Runs
	Scaling           *Scaling
	Outputs           *Outputs
	Leases            *Leases
	Maintenance       *Maintenance
	Notices           *Notices
	Inbox             *Inbox
	Nodes             *Nodes
	Operations        *Operations
	Orphans           *Orphans
	Plugins           *Plugins
	Policies          *Policies
	ProviderValues    *ProviderValues
	Pools             *Pools
	Volumes           *Volumes
	Images            *Images
	ProvisionerTokens *ProvisionerTokens
	Provisioners      *Provisioners
	ManualSteps       *ManualSteps
	Queues            *Queues
	Quotas            *Quotas
	Requests          *Requests
	Resources         *Resources
	Schedules         *Schedules
	Secrets           *Secrets
	Sharing           *Sharing
	Locks             *Locks
	Slack             *Slack
	Templates         *Templates
	TenantSettings    *TenantSettings
	Tenants           *Tenants
	Tokens            *Tokens
	Usage             *Usage
	Users             *Users
	Webhooks          *Webhooks

	mu       sync.Mutex
	settings Settings
}

// Limits of one call. A long poll adds its own wait.
const (
	callTimeout = 30 * time.Second
	answerLimit = 256 << 20 // bytes

	// Reads are retried with these delays, doubling from the first to the last: for 3 s in total.
	readPause        = 200 * time.Millisecond
	longestReadPause = 1600 * time.Millisecond
)

// ListLimit is the maximum number of clusters in one response.
const ListLimit = 1000

// New returns a client for a server, without connecting yet. Invalid settings are EInvalid.
func New(s Settings) (*Client, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, &app.Error{Code: app.EInvalid, Reason: "usage", Field: "server", Message: `"` + s.URL + `" isn't a valid server URL`,
			Hint: "Use a URL such as https://muster.example.com or http://localhost:8080."}
	}
	t, err := Trust(s.CA)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = t
	c := &Client{HTTP: &http.Client{Transport: transport}, settings: s}
	p := &part{client: c}
	c.Audit = (*Audit)(p)
	c.BuildHooks = (*BuildHooks)(p)
	c.Builds = (*Builds)(p)
	c.Catalog = (*Catalog)(p)
	c.Clusters = (*Clusters)(p)
	c.Devices = (*Devices)(p)
	c.Groups = (*Groups)(p)
	c.Idle = (*Idle)(p)
	c.Runs = (*Runs)(p)
	c.Scaling = (*Scaling)(p)
	c.Outputs = (*Outputs)(p)
	c.Leases = (*Leases)(p)
	c.Maintenance = (*Maintenance)(p)
	c.Notices = (*Notices)(p)
	c.Inbox = (*Inbox)(p)
	c.Nodes = (*Nodes)(p)
	c.Operations = (*Operations)(p)
	c.Orphans = (*Orphans)(p)
	c.Plugins = (*Plugins)(p)
	c.Policies = (*Policies)(p)
	c.ProviderValues = (*ProviderValues)(p)
	c.Pools = (*Pools)(p)
	c.Volumes = (*Volumes)(p)
	c.Images = (*Images)(p)
	c.ProvisionerTokens = (*ProvisionerTokens)(p)
	c.Provisioners = (*Provisioners)(p)
	c.ManualSteps = (*ManualSteps)(p)
	c.Queues = (*Queues)(p)
	c.Quotas = (*Quotas)(p)
	c.Requests = (*Requests)(p)
	c.Resources = (*Resources)(p)
	c.Schedules = (*Schedules)(p)
	c.Secrets = (*Secrets)(p)
	c.Sharing = (*Sharing)(p)
	c.Locks = (*Locks)(p)
	c.Slack = (*Slack)(p)
	c.Templates = (*Templates)(p)
	c.TenantSettings = (*TenantSettings)(p)
	c.Tenants = (*Tenants)(p)
	c.Tokens = (*Tokens)(p)
	c.Usage = (*Usage)(p)
	c.Users = (*Users)(p)
	c.Webhooks = (*Webhooks)(p)
	return c, nil
}

// Settings returns the current settings.
func (c *Client) Settings() Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings
}

// Renew reloads the settings and reports whether they changed; those that can't be loaded stay. The CA never changes.
func (c *Client) Renew() bool {
	if c.Reload == nil {
		return false
	}
	s, err := c.Reload()
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.settings
	c.settings = s
	return s != old
}
