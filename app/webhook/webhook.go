package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// Format says what a hook's receiver understands.
type Format string

// The formats.
const (
	HookMuster Format = "muster" // JSON with everything about the notice
	HookSlack  Format = "slack"  // {"text": …}, as incoming webhooks of Slack, Mattermost and others take it
	HookMail   Format = "mail"   // {"to": …, "subject": …, "text": …}, for gateways that send mail
	HookCoopr  Format = "coopr"  // {"cluster": …, "job": …, "nodes": …}, as Coopr's callback posted it; of operation hooks only
)

// State is the state of a hook.
type State string

// The states.
const (
	HookActive  State = "active"
	HookOff     State = "off"     // a person switched it off
	HookStopped State = "stopped" // Muster stopped it by itself; Why says why
)

// Endpoint is an address that notices of a tenant are sent to. Neither its secret nor the whole of its URL, which for many
// receivers is a secret too, can be read again.
type Endpoint struct {
	ID     int64  `json:"-"`
	Tenant string `json:"-"`
	Name   string `json:"name"`
	// URL is where it leads, without what may be secret; see RedactURL.
	URL    string           `json:"url"`
	Kinds  []app.NoticeKind `json:"kinds,omitempty"` // sorted; none: all
	Format Format           `json:"format"`
	// Of an operation hook, which is notified of operations and no notices; see OperationHook.
	When       template.HookPhase  `json:"when,omitempty"`
	Operations []app.OperationKind `json:"operations,omitempty"` // sorted; none: all
	Timeout    time.Duration       `json:"timeout,omitempty"`
	OnTimeout  template.HookChoice `json:"on_timeout,omitempty"`
	Script     string              `json:"script,omitempty"` // instead of an address: it is run on nodes
	Services   []string            `json:"services,omitempty"`

	To             string       `json:"to,omitempty"` // of the format mail: the addresses, with commas between
	State          State        `json:"state"`
	Problem        string       `json:"problem,omitempty"` // of a stopped one
	CreatedBy      string       `json:"created_by"`
	CreatedAt      time.Time    `json:"created_at"`
	ChangedAt      time.Time    `json:"changed_at"`
	SecretAt       time.Time    `json:"secret_at"`                 // when its secret was set
	OldSecretUntil time.Time    `json:"old_secret_until,omitzero"` // until when the secret before signs too
	Failures       int          `json:"failures"`                  // deliveries in a row that failed
	Waiting        int          `json:"waiting"`                   // deliveries that are still to be made
	Last           *LastAttempt `json:"last,omitempty"`            // what happened to the latest attempt; nil: there was none yet
	NextAt         time.Time    `json:"next_at,omitzero"`          // when the delivery is tried again that the others wait behind
}

// LastAttempt is the latest attempt of any delivery of a hook.
type LastAttempt struct {
	Delivery int64         `json:"delivery"`
	At       time.Time     `json:"at"`
	Duration time.Duration `json:"duration"`
	Status   int           `json:"status,omitempty"` // 0: no answer
	Code     app.Code      `json:"code,omitempty"`   // "": it was taken
	Error    string        `json:"error,omitempty"`
}

// HookFormats are those of notices, the default first; operationFormats those of operation hooks.
var (
	HookFormats      = []Format{HookMuster, HookSlack, HookMail}
	operationFormats = []Format{HookMuster, HookCoopr}
)

// The limits of hooks.
const (
	MaxHooks         = 50 // of a tenant
	MaxHookURL       = 2 << 10
	maxRecipients    = 10
	maxHookRecipient = 512 // bytes, all together
	minHookSecret    = 24  // bytes
	maxHookSecret    = 64

	// OldSecretTime is how long the secret before still signs beside a new one.
	OldSecretTime = 24 * time.Hour
)

// HookSecretMark begins secrets in the form of Standard Webhooks; the rest is base64.
const HookSecretMark = "whsec_"

// EndpointRequest makes or changes a hook. What is nil or empty stays as it is; of a new hook it is the default.
type EndpointRequest struct {
	Name    string            `json:"-"`
	URL     string            `json:"url,omitempty"`
	Kinds   *[]app.NoticeKind `json:"kinds,omitempty"`
	Format  Format            `json:"format,omitempty"`
	To      *string           `json:"to,omitempty"`
	Enabled *bool             `json:"enabled,omitempty"`
	Secret  string            `json:"secret,omitempty"`
	Rotate  bool              `json:"rotate,omitempty"`

	When       template.HookPhase   `json:"when,omitempty"`
	Operations *[]app.OperationKind `json:"operations,omitempty"`
	Timeout    *time.Duration       `json:"timeout,omitempty"`
	OnTimeout  template.HookChoice  `json:"on_timeout,omitempty"`
	Script     string               `json:"script,omitempty"`
	Services   *[]string            `json:"services,omitempty"`
}

// SavedEndpoint is a hook as it is after a change. Secret is the one that was made for it just now, "" where none was: it
// cannot be read again.
type SavedEndpoint struct {
	Endpoint
	Secret  string `json:"secret,omitempty"`
	Created bool   `json:"created"` // there was none of the name before
}

// EndpointChange is a checked change, as the store takes it. What is nil or empty stays.
type EndpointChange struct {
	Name, URL, Shown string
	Kinds            *[]app.NoticeKind
	Format           Format
	To               *string
	Enabled          *bool
	Secret           []byte
	New              []byte // the secret of a hook that is made by this, where Secret is empty
	// Of operation hooks:
	When       template.HookPhase
	Operations *[]app.OperationKind
	Timeout    *time.Duration
	OnTimeout  template.HookChoice
	Script     string
	Services   *[]string
}

// Guard says where hooks may lead.
type Guard interface {
	// CheckURL returns EInvalid or EForbidden, in words, for an address that no delivery would ever be made to. Names are not
	// looked up.
	CheckURL(u *url.URL) error
}

// Hooks lists the hooks of the tenant by name.
func (a *Service) Hooks(ctx context.Context, actor app.Actor) ([]Endpoint, error) {
	if err := actor.Authorize("Hooks"); err != nil {
		return nil, err
	}
	return a.Store.Hooks(ctx, actor.Tenant)
}

// Hook returns one; ENotFound where there is none of the name.
func (a *Service) Hook(ctx context.Context, actor app.Actor, name string) (Endpoint, error) {
	if err := actor.Authorize("Hook"); err != nil {
		return Endpoint{}, err
	}
	return a.Store.Hook(ctx, actor.Tenant, name)
}

// SaveHook makes a hook or changes the one of that name.
func (a *Service) SaveHook(ctx context.Context, actor app.Actor, r EndpointRequest) (SavedEndpoint, error) {
	if err := actor.Authorize("SaveHook"); err != nil {
		return SavedEndpoint{}, err
	}
	c, err := a.CheckHook(r)
	if err != nil {
		return SavedEndpoint{}, err
	}
	_, err = a.Store.Hook(ctx, actor.Tenant, r.Name)
	if err != nil && app.CodeOf(err) != app.ENotFound {
		return SavedEndpoint{}, err
	}
	if err != nil && r.Script == "" || r.Rotate || r.Secret != "" {
		if err := actor.MustStepUp(); err != nil {
			return SavedEndpoint{}, err
		}
	}
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // never fails: crypto/rand ends the process instead
	if c.New = fresh; r.Rotate {
		c.Secret = fresh
	}
	h, made, err := a.Store.SaveHook(ctx, actor, c, a.Now())
	if err != nil {
		return SavedEndpoint{}, err
	}
	saved := SavedEndpoint{Endpoint: h, Created: made}
	if h.Script == "" && (r.Rotate || made && r.Secret == "") {
		saved.Secret = HookSecretMark + base64.StdEncoding.EncodeToString(fresh)
	}
	return saved, nil
}

// DeleteHook ends a hook; what it was still to be sent is dropped with its deliveries.
func (a *Service) DeleteHook(ctx context.Context, actor app.Actor, name string) error {
	if err := actor.Authorize("DeleteHook"); err != nil {
		return err
	}
	return a.Store.DeleteHook(ctx, actor, name, a.Now())
}

func (a *Service) CheckHook(r EndpointRequest) (EndpointChange, error) {
	c := EndpointChange{Name: r.Name, Format: r.Format, Enabled: r.Enabled, When: r.When, Timeout: r.Timeout, OnTimeout: r.OnTimeout, Script: r.Script}
	wrong := func(field, message, hint string) (EndpointChange, error) {
		return c, &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	if !template.HookName(r.Name) {
		return wrong("name", "Name must be 1 to 63 lowercase letters, digits, '-' or '_'.", "For example \"ops-chat\".")
	}
	if r.URL != "" {
		u, err := a.CheckHookURL(r.URL)
		if err != nil {
			return c, err
		}
		c.URL, c.Shown = r.URL, RedactURL(u)
	}
	if r.Kinds != nil {
		kinds := slices.Compact(slices.Sorted(slices.Values(*r.Kinds)))
		for _, k := range kinds {
			if !slices.Contains(app.NoticeKinds, k) {
				return wrong("kinds", fmt.Sprintf("Unknown notification kind %q.", humanize.Clip(string(k))), "One of: "+template.Joined(app.NoticeKinds)+".")
			}
		}
		c.Kinds = &kinds
	}
	if r.Format != "" && !slices.Contains(HookFormats, r.Format) && !slices.Contains(operationFormats, r.Format) {
		return wrong("format", fmt.Sprintf("Unknown format %q.", humanize.Clip(string(r.Format))), "One of: "+template.Joined(HookFormats)+"; operation hooks also take coopr.")
	}
	if r.Script != "" && a.CheckScript != nil {
		if fault := a.CheckScript(r.Script); fault != nil && !fault.Warning {
			return wrong("script", fmt.Sprintf("Syntax error in the script: line %d, column %d: %s.", fault.Line, fault.Column, fault.Message), fault.Hint)
		}
	}
	if r.When != "" && !slices.Contains(template.HookPhases, r.When) {
		return wrong("when", fmt.Sprintf("Unknown value %q for when.", humanize.Clip(string(r.When))), "One of: "+template.Joined(template.HookPhases)+".")
	}
	if r.Operations != nil {
		kinds := slices.Compact(slices.Sorted(slices.Values(*r.Operations)))
		c.Operations = &kinds
	}
	if r.Services != nil {
		services := slices.Compact(slices.Sorted(slices.Values(*r.Services)))
		c.Services = &services
	}
	if r.To != nil {
		to, err := CheckRecipients(*r.To)
		if err != nil {
			return c, err
		}
		c.To = &to
	}
	if r.Secret != "" {
		if r.Rotate {
			return wrong("secret", "A secret is either entered or generated, not both.", "")
		}
		secret, err := HookSecret(r.Secret)
		if err != nil {
			return c, err
		}
		c.Secret = secret
	}
	return c, nil
}

func (a *Service) CheckHookURL(text string) (*url.URL, error) {
	wrong := func(message, hint string) (*url.URL, error) {
		return nil, &app.Error{Code: app.EInvalid, Field: "url", Message: message, Hint: hint}
	}
	const like = "For example https://hooks.example.com/muster."
	if len(text) > MaxHookURL {
		return wrong("The URL must be at most 2 KiB.", "")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" || strings.ContainsFunc(text, Unprintable):
		return wrong("Invalid URL.", like) // the error would repeat it, with its secrets
	case u.Scheme != "https" && u.Scheme != "http":
		return wrong("The URL must start with https://.", like)
	case a.HookGuard == nil && u.Scheme == "http":
		return wrong("The URL must start with https://: over http, anyone on the network could read notifications.", like)
	case a.HookGuard != nil:
		if err := a.HookGuard.CheckURL(u); err != nil {
			return nil, err
		}
	}
	return u, nil
}

func Unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar
}

// HookSecret reads a secret in the form of Standard Webhooks.
func HookSecret(text string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, HookSecretMark))
	if err != nil || len(b) < minHookSecret || len(b) > maxHookSecret {
		return nil, &app.Error{Code: app.EInvalid, Field: "secret", Message: fmt.Sprintf("A secret must be %q followed by the base64 of %d to %d bytes.", HookSecretMark, minHookSecret, maxHookSecret),
			Hint: "Leave it out to generate one, or run: echo whsec_$(openssl rand -base64 32)"}
	}
	return b, nil
}

func CheckRecipients(text string) (string, error) {
	wrong := func(message string) (string, error) {
		return "", &app.Error{Code: app.EInvalid, Field: "to", Message: message, Hint: "For example ops@example.com, or several separated by commas."}
	}
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	if len(text) > maxHookRecipient {
		return wrong(fmt.Sprintf("The addresses must be at most %d bytes.", maxHookRecipient))
	}
	all, err := mail.ParseAddressList(text)
	if err != nil {
		return wrong("Invalid email addresses.")
	}
	if len(all) > maxRecipients {
		return wrong(fmt.Sprintf("At most %d addresses are allowed.", maxRecipients))
	}
	var plain []string
	for _, m := range all {
		plain = append(plain, m.Address)
	}
	return strings.Join(plain, ", "), nil
}

// longestShown is how long a part of a path may be before it is taken for a secret.
const longestShown = 16

// RedactURL returns a URL without what may be secret: user and password, the query, the fragment, and long parts of the path.
func RedactURL(u *url.URL) string {
	parts := strings.Split(u.EscapedPath(), "/")
	for i, p := range parts {
		if len(p) > longestShown {
			parts[i] = "…"
		}
	}
	text := u.Scheme + "://" + u.Host + strings.Join(parts, "/")
	if u.RawQuery != "" {
		text += "?…"
	}
	return text
}
