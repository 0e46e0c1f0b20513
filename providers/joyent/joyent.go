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
	"muster/providers/joyent/internal/cloudapi"
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:   "joyent",
	Sleeps: true,
	Description: "Instances on Triton (once Joyent's cloud, and private ones), by CloudAPI. A flavor is a package, by name or UUID; an image is NAME (its newest version), " +
		"NAME@VERSION or a UUID. Linux images with bash only.",
	Fields: []family.Field{
		{Name: "url", SetBy: family.SetByTenant, Label: "CloudAPI", Type: family.FieldText, Required: true, Help: "The address of the datacenter's CloudAPI, such as https://us-central-1.api.mnx.io."},
		{Name: "account", SetBy: family.SetByTenant, Label: "Account", Type: family.FieldText, Required: true, Help: "The account's login."},
		{Name: "user", SetBy: family.SetByTenant, Label: "Subuser", Type: family.FieldText, Help: "The login of a subuser of the account (RBAC), whose key it is. Empty: the account itself."},
		{Name: "key", SetBy: family.SetByTenant, Label: "Private key", Type: family.FieldLines, Required: true, Secret: true, Help: "An SSH key of the account or subuser, RSA or ECDSA, in PEM and without a passphrase."},
		{Name: "key_id", SetBy: family.SetByTenant, Label: "Key's name", Type: family.FieldText, Help: "Its name or fingerprint in the account. Empty: the fingerprint, which is made of the key."},
		networks,
		{Name: "firewall", SetBy: family.SetByTenant, Label: "Firewall", Type: family.FieldBool, Default: "false",
			Help: "Whether the account's own firewall rules hold for machines of clusters whose template says nothing of a firewall."},
		{Name: "ssh_from", SetBy: family.SetByTenant, Label: "SSH from", Type: family.FieldList, Default: "0.0.0.0/0", Help: "Who may reach SSH of machines behind a firewall that Muster made: prefixes with commas between them."},
	},
	FlavorFields: []family.Field{networks},
}

var networks = family.Field{Name: "networks", SetBy: family.SetByAccountOwner, Label: "Networks", Type: family.FieldList, Help: "Names or UUIDs with commas between them, the first one being the primary. Empty: the datacenter's default."}

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
		return account.Invalid("url", "the address of the CloudAPI must be of the form https://host")
	}
	for _, name := range []string{"account", "user"} {
		if v := s.Text(name); v != "" && !loginForm.MatchString(v) || v == "" && name == "account" {
			return account.Invalid(name, "%q is not a login", v)
		}
	}
	if v := s.Text("key_id"); v != "" && !keyForm.MatchString(v) {
		return account.Invalid("key_id", "%q is neither a name nor a fingerprint of a key", v)
	}
	if _, err := s.Bool("firewall", false); err != nil {
		return err
	}
	for _, prefix := range s.List("ssh_from") {
		if _, err := netip.ParsePrefix(prefix); err != nil {
			return account.Invalid("ssh_from", "%q is not a prefix such as 203.0.113.0/24", prefix)
		}
	}
	// Last, since a reference to a secret may stand in its place where settings are written.
	if _, err := signerOf(s); err != nil {
		e := account.Invalid("key", "%v", err)
		e.Hint = "Make one with ssh-keygen -t ecdsa -m PEM, and add its public half to the account."
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
		e.Code, e.RetryAfter, e.Hint = app.ECapacity, 0, "Another datacenter or another package may have room."
	case "QuotaExceeded":
		e.Code, e.Hint = app.EQuota, "Have the account's limit raised, or give back machines that it counts."
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
		e.Code, e.Message, e.Hint = app.ETransient, "there is no CloudAPI behind the address: it answered 404 without a code", "Look at the setting url."
	case answer.Status >= 300 && answer.Status < 400:
		e.Code, e.Message, e.Hint = app.EInvalid, "the CloudAPI is somewhere else: it answered with a redirect", "Set url to where it is."
	}
	if e.Code == app.ERateLimit && e.RetryAfter == 0 {
		e.RetryAfter = comeBack
	}
	if e.Code == app.ECredentials && e.Hint == "" {
		e.Hint = "Look whether the key is in the account, whether the subuser's roles allow this, and whether the clock of Muster's host is right."
	}
	return e
}
