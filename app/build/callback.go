package build

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/webhook"
)

// Call is where the state of a build that begins is sent.
type Call struct {
	URL   string // may hold a secret; "" for nowhere
	Shown string // URL without what may be secret
	Why   string // why nowhere, where there was to be one
}

// Callbacks are a build's callbacks, and what happened to them.
type Callbacks struct {
	URL        string     `json:"url,omitempty"`    // without what may be secret
	Reason     string     `json:"reason,omitempty"` // why no callback is sent, or none any more
	Deliveries []Callback `json:"deliveries"`
}

// Callback is what a build is sent once: that it is ready, refused, failed or ended.
type Callback struct {
	ID int64 `json:"id"`
	// MessageID is what the receiver is sent in the header webhook-id, the same at every attempt.
	MessageID string                `json:"message_id"`
	State     app.BuildState        `json:"state"`
	Outcome   webhook.DeliveryState `json:"outcome"`
	Attempts  int                   `json:"attempts"`
	QueuedAt  time.Time             `json:"queued_at"`
	NextAt    time.Time             `json:"next_at,omitzero"` // of a waiting one: not before then
	EndedAt   time.Time             `json:"ended_at,omitzero"`
	// Of the last attempt:
	Status   int           `json:"status,omitempty"` // 0: no answer
	Duration time.Duration `json:"duration,omitempty"`
	Code     app.Code      `json:"code,omitempty"` // "": it was taken, or not tried yet
	Error    string        `json:"error,omitempty"`
}

// News is what is notified of a build as it is.
func (b Build) News(now time.Time, nodes []app.BuildNode) app.BuildNews {
	return app.BuildNews{At: now, Build: b.ID, Hook: b.Hook, Key: b.Key, Name: b.Event.Build, Job: b.Event.Job, State: b.State, Message: b.Message, Cluster: b.Cluster,
		Nodes: nodes, HookID: b.HookID}
}

// Line says in one line what happened to it.
func (c Callback) Line(now time.Time) string {
	tries := fmt.Sprintf("%d attempts", c.Attempts)
	if c.Attempts == 1 {
		tries = "1 attempt"
	}
	if c.Status > 0 {
		tries += fmt.Sprintf(", status %d", c.Status)
	}
	var words string
	switch {
	case c.Outcome == webhook.DeliveryMade:
		words = "delivered after " + tries
	case c.Outcome == webhook.DeliveryFailed:
		words = "given up after " + tries
	case c.Attempts == 0:
		return string(c.State) + ": not sent yet"
	case c.NextAt.After(now):
		words = fmt.Sprintf("next attempt in %s, after %s", humanize.Duration(c.NextAt.Sub(now)), tries)
	default:
		words = "being sent, " + tries
	}
	if c.Error != "" {
		words += ". " + c.Error
	}
	return string(c.State) + ": " + words
}

// RedactedCallback is a rule's callback without the query that it was written with.
func (r Rule) RedactedCallback() string {
	before, _, _ := strings.Cut(r.Callback, "${")
	if i := strings.IndexByte(before, '?'); i >= 0 {
		return r.Callback[:i] + "?…"
	}
	return r.Callback
}

// SigningKey is what callbacks of a hook with a secret are signed with: the bytes that whsec_ and base64 stand for, or those of the
// secret itself where it is in no such form.
func SigningKey(secret string) []byte {
	if text, marked := strings.CutPrefix(secret, webhook.HookSecretMark); marked {
		if key, err := base64.StdEncoding.DecodeString(text); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(secret)
}

// callOf says where the callback of an event's build goes. An address that cannot be one keeps no build from its cluster.
func (a *Intake) callOf(r Rule, j Judgement, e app.BuildEvent) Call {
	text := strings.TrimSpace(j.Callback)
	switch {
	case j.CallbackWhy != "":
		return Call{Why: "No callback for this build: " + j.CallbackWhy}
	case r.Callback == "":
		text = strings.TrimSpace(e.CallbackURL)
	}
	if text == "" || text == app.BuildCallbackNone {
		return Call{}
	}
	u, err := a.Webhooks.CheckHookURL(text)
	if err != nil {
		return Call{Why: "No callback for this build: " + app.AsError(err).Message}
	}
	return Call{URL: text, Shown: webhook.RedactURL(u)}
}

// checkCallback says what is wrong with a rule's callback before anything is put in it.
func (a *Hooks) checkCallback(r Rule) error {
	wrong := func(message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: "callback", Message: "callback: " + message, Hint: hint}
	}
	const like = "For example ${event.payload.callback_url} or https://ci.example.com/muster/${event.build}."
	text := strings.TrimSpace(r.Callback)
	switch {
	case r.Callback == "" || text == app.BuildCallbackNone:
		return nil
	case len(r.Callback) > app.MaxCallbackText:
		return wrong(fmt.Sprintf("longer than %d bytes", app.MaxCallbackText), "")
	case text == "":
		return wrong("must not be empty", "Leave it out, or use none to send no callback.")
	}
	before, _, open := strings.Cut(text, "${")
	if open && before == "" {
		return nil // the whole of the address is reported later
	}
	scheme, rest, absolute := strings.Cut(before, "://")
	switch host, _, whole := strings.Cut(rest, "/"); {
	case !absolute && !(open && strings.HasPrefix("https://", before)):
		return wrong("must start with https://", like)
	case absolute && scheme != "https" && scheme != "http":
		return wrong("callbacks use https, not "+humanize.Clip(scheme), like)
	case absolute && strings.Contains(host, "@"):
		return wrong("contains a user name or password, which anyone who sees the rules could read", "Take such an address from the event: ${event.payload.callback_url}.")
	case open && !whole:
		return nil
	}
	if open {
		before += "x" // what comes there is not known yet; where it leads is
	}
	if _, err := a.Webhooks.CheckHookURL(before); err != nil {
		e := *app.AsError(err)
		return wrong(e.Message, cmp.Or(e.Hint, like))
	}
	return nil
}

// toldOf returns what is to be notified of a build that has moved; nil for nothing.
func (a *Reconciler) toldOf(ctx context.Context, was DueBuild, b Build, now time.Time) (*app.BuildNews, error) {
	if (b.Callback == nil || b.Callback.URL == "") && !was.Of.Statuses || b.State == was.State || !b.State.HasCallback() {
		return nil, nil
	}
	var nodes []app.BuildNode
	status := b.CommitStatus(was.Of, "")
	if b.State == app.BuildReady {
		c, err := a.Store.View(ctx, b.Tenant, b.Cluster)
		if err != nil {
			return nil, err
		}
		nodes = buildNodes(c)
		if status, err = a.readyStatus(ctx, was, b, c); err != nil {
			return nil, err
		}
	}
	n := b.News(now, nodes)
	n.Status = status
	return &n, nil
}

// CallbackURL reports whether a text is an address at all; where it may lead is asked when it is used.
func CallbackURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= webhook.MaxHookURL && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && !strings.ContainsFunc(text, webhook.Unprintable)
}
