package joyent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/userdata"
	"muster/providers/joyent/internal/cloudapi"
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:          "joyent",
	Tested:        "A simulated CloudAPI. Not a real Triton.",
	Sleeps:        true,
	Firewalls:     true,
	ResourceTypes: userdata.Resources,
	Description: "Triton instances (formerly Joyent), through CloudAPI. A flavor is a package, by name or UUID; an image is NAME (its newest version), " +
		"NAME@VERSION or a UUID. Images must be Linux with bash.",
	Fields: []family.Field{
		{Name: "url", SetBy: family.SetByTenant, Reaches: true, Label: "CloudAPI", Type: family.FieldText, Required: true, Help: "Address of the datacenter's CloudAPI, such as https://us-central-1.api.mnx.io."},
		{Name: "account", SetBy: family.SetByTenant, Label: "Account", Type: family.FieldText, Required: true, Help: "The account's login."},
		{Name: "user", SetBy: family.SetByTenant, Label: "Subuser", Type: family.FieldText, Help: "Login of the subuser (RBAC) that owns the key. Leave empty for the account itself."},
		{Name: "key", SetBy: family.SetByTenant, Label: "Private key", Type: family.FieldLines, Required: true, Secret: true, Help: "An RSA or ECDSA SSH key of the account or subuser, in PEM format, without a passphrase."},
		{Name: "key_id", SetBy: family.SetByTenant, Label: "Key name", Type: family.FieldText, Help: "The key's name or fingerprint in the account. Leave empty to derive the fingerprint from the key."},
		networks, userdata.ScriptField, userdata.ResourceField,
		{Name: "firewall", SetBy: family.SetByTenant, Label: "Firewall", Type: family.FieldBool, Default: "false",
			Help: "Whether the account's own firewall rules apply to machines of clusters without a firewall in their template."},
		{Name: "ssh_from", SetBy: family.SetByTenant, Label: "SSH from", Type: family.FieldList, Default: "0.0.0.0/0", Help: "CIDR ranges that can reach SSH on machines behind a cluster's firewall, separated by commas."},
	},
	FlavorFields: []family.Field{networks, userdata.ScriptField},
}

var networks = family.Field{Name: "networks", SetBy: family.SetByAccountOwner, Label: "Networks", Type: family.FieldList, Help: "Names or UUIDs, separated by commas, the primary network first. Leave empty for the datacenter's default."}

// pauses are how long to wait before looking again, and how late lists are.
type pauses struct{ machine, late time.Duration }

var usual = pauses{machine: 2 * time.Second, late: 3 * time.Second}

// Provider is one account in one datacenter.
type Provider struct {
	name      string
	settings  account.Settings
	api       *cloudapi.Client
	transport *http.Transport
	pauses    pauses
	firewalls sync.Mutex // one cluster's rules at a time
}

var (
	_ family.Provider       = (*Provider)(nil)
	_ family.ProviderCloser = (*Provider)(nil)
	_ family.LateLister     = (*Provider)(nil)
	_ family.Sleeper        = (*Provider)(nil)
	_ family.Adopter        = (*Provider)(nil)
	_ family.AccountChecker = (*Provider)(nil)
	_ family.Offerer        = (*Provider)(nil)
	_ family.Sharer         = (*Provider)(nil)
)

var (
	loginForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@-]{2,62}$`)
	keyForm   = regexp.MustCompile(`^[A-Za-z0-9_.:@+/=-]{1,200}$`)
	uuidForm  = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// Check validates settings beyond what the descriptor says; the error is EInvalid.
func Check(settings map[string]any) error {
	s := account.Settings(settings)
	if u, err := url.Parse(s.Text("url")); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return account.Invalid("url", "CloudAPI's address must have the form https://host")
	}
	for _, name := range []string{"account", "user"} {
		if v := s.Text(name); v != "" && !loginForm.MatchString(v) || v == "" && name == "account" {
			return account.Invalid(name, "%q isn't a valid login", v)
		}
	}
	if v := s.Text("key_id"); v != "" && !keyForm.MatchString(v) {
		return account.Invalid("key_id", "%q isn't a key's name or fingerprint", v)
	}
	if _, err := s.Bool("firewall", false); err != nil {
		return err
	}
	if err := userdata.CheckScript(s.Text(userdata.Setting), userdata.LimitMetadata); err != nil {
		return err
	}
	for _, prefix := range s.List("ssh_from") {
		if _, err := netip.ParsePrefix(prefix); err != nil {
			return account.Invalid("ssh_from", "%q isn't a CIDR range. For example, 203.0.113.0/24", prefix)
		}
	}
	// Last, since a reference to a secret may stand in its place where settings are written.
	if _, err := signerOf(s); err != nil {
		e := account.Invalid("key", "%v", err)
		e.Hint = "Create one with ssh-keygen -t ecdsa -m PEM, and add its public key to the account."
		return e
	}
	return nil
}

func signerOf(s account.Settings) (*cloudapi.Signer, error) {
	return cloudapi.NewSigner(s.Text("account"), s.Text("user"), s.Text("key_id"), []byte(s.Text("key")+"\n"))
}

// Open returns the account that the settings name. It asks nothing yet.
func Open(_ context.Context, name string, settings map[string]any, via account.Network) (*Provider, error) {
	return open(name, settings, usual, via)
}

func open(name string, settings map[string]any, pauses pauses, via account.Network) (*Provider, error) {
	if err := Check(settings); err != nil {
		return nil, err
	}
	s := account.Settings(settings)
	signer, err := signerOf(s)
	if err != nil {
		return nil, err
	}
	p := &Provider{name: name, settings: s, transport: via.Transport(), pauses: pauses}
	p.transport.ResponseHeaderTimeout = 2 * time.Minute
	p.transport.MaxIdleConnsPerHost = 16
	// A redirect would carry the signature elsewhere.
	h := &http.Client{Transport: p.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	p.api = cloudapi.New(s.Text("url"), s.Text("account"), signer, h)
	return p, nil
}

// Close lets connections go; machines stay.
func (p *Provider) Close() error {
	p.transport.CloseIdleConnections()
	return nil
}

// ListsLate: a machine that was just asked for, and whose answer was lost, may be missing from lists for a moment.
func (p *Provider) ListsLate() time.Duration { return p.pauses.late }

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// pause waits, but no longer than ctx lasts.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// comeBack is when to ask again where the cloud does not say.
const comeBack = 20 * time.Second

// slowDown is CloudAPI's own status for too many calls.
const slowDown = 420

// coded returns an answer's error its code. What never was an answer goes up as it is.
func coded(err error) error {
	var answer *cloudapi.Error
	if !errors.As(err, &answer) {
		return err
	}
	e := account.Status(answer.Status, answer.Header, answer.Error())
	switch answer.Code {
	case "InvalidCredentials", "NotAuthorized", "InvalidSignature", "KeyDoesNotExist", "UserDoesNotExist", "NotAllowed":
		e.Code = app.ECredentials
	case "InsufficientCapacity", "InsufficientServerSpace", "InsufficientMemory":
		e.Code, e.RetryAfter, e.Hint = app.ECapacity, 0, "Try another datacenter or package."
	case "QuotaExceeded":
		e.Code, e.Hint = app.EQuota, "Raise the account's limit, or delete machines that count toward it."
	case "RequestThrottled":
		e.Code, e.RetryAfter = app.ERateLimit, account.RetryAfter(answer.Header, time.Now())
	case "InUseError", "InvalidState":
		e.Code = app.ETransient
	case "InvalidArgument", "MissingParameter", "InvalidParameter", "ValidationFailed":
		e.Code = app.EInvalid
	}
	switch {
	case answer.Status == slowDown:
		e.Code, e.RetryAfter = app.ERateLimit, account.RetryAfter(answer.Header, time.Now())
	case answer.Status == http.StatusNotFound && answer.Code == "":
		// Not an answer of CloudAPI: a proxy, or an address that is wrong. It does not tell that something is gone.
		e.Code, e.Message, e.Hint = app.ETransient, "the address isn't a CloudAPI: it responded 404 without a code", "Check the setting url."
	case answer.Status >= 300 && answer.Status < 400:
		e.Code, e.Message, e.Hint = app.EInvalid, "CloudAPI's address has changed: it responded with a redirect", "Set url to the final address."
	}
	if e.Code == app.ERateLimit && e.RetryAfter == 0 {
		e.RetryAfter = comeBack
	}
	if e.Code == app.ECredentials && e.Hint == "" {
		e.Hint = "Check that the key is in the account, that the subuser's roles allow this, and that the clock of Muster's host is correct."
	}
	return e
}
