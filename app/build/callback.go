package build

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/webhook"
)

// BuildSigningKey is what callbacks of a hook with a secret are signed with: the bytes that whsec_ and base64 stand for, or those of the
// secret itself where it is in no such form.
func BuildSigningKey(secret string) []byte {
	if text, marked := strings.CutPrefix(secret, webhook.HookSecretMark); marked {
		if key, err := base64.StdEncoding.DecodeString(text); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(secret)
}

// callOf says where the build of an event is to be told. An address that cannot be one keeps no build from its cluster.
func (a *Service) callOf(r app.BuildRule, j BuildJudgement, e app.BuildEvent) app.BuildCall {
	text := strings.TrimSpace(j.Callback)
	switch {
	case j.CallbackWhy != "":
		return app.BuildCall{Why: "Nobody is told of the build: " + j.CallbackWhy}
	case r.Callback == "":
		text = strings.TrimSpace(e.CallbackURL)
	}
	if text == "" || text == app.BuildCallbackNone {
		return app.BuildCall{}
	}
	u, err := a.Hooks.CheckHookURL(text)
	if err != nil {
		return app.BuildCall{Why: "Nobody is told of the build: " + app.AsError(err).Message}
	}
	return app.BuildCall{URL: text, Shown: webhook.RedactURL(u)}
}

// checkCallback says what is wrong with a rule's callback before anything is put in it.
func (a *Service) checkCallback(r app.BuildRule) error {
	wrong := func(message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: "callback", Message: "callback: " + message, Hint: hint}
	}
	const like = "Such as ${event.payload.callback_url}, or https://ci.example.com/muster/${event.build}."
	text := strings.TrimSpace(r.Callback)
	switch {
	case r.Callback == "" || text == app.BuildCallbackNone:
		return nil
	case len(r.Callback) > app.MaxCallbackText:
		return wrong(fmt.Sprintf("it is longer than %d bytes", app.MaxCallbackText), "")
	case text == "":
		return wrong("it is empty", "Leave it out, or write none to tell nobody.")
	}
	before, _, open := strings.Cut(text, "${")
	if open && before == "" {
		return nil // the whole of the address is told later
	}
	scheme, rest, absolute := strings.Cut(before, "://")
	switch host, _, whole := strings.Cut(rest, "/"); {
	case !absolute && !(open && strings.HasPrefix("https://", before)):
		return wrong("it does not begin with https://", like)
	case absolute && scheme != "https" && scheme != "http":
		return wrong("builds are told over https, not "+app.Clip(scheme), like)
	case absolute && strings.Contains(host, "@"):
		return wrong("it holds a user or a password, which everybody could read who sees the rules", "Let the event carry such an address: ${event.payload.callback_url}.")
	case open && !whole:
		return nil
	}
	if open {
		before += "x" // what comes there is not known yet; where it leads is
	}
	if _, err := a.Hooks.CheckHookURL(before); err != nil {
		e := *app.AsError(err)
		return wrong(e.Message, app.FirstOf(e.Hint, like))
	}
	return nil
}

// toldOf gives what is to be told of a build that has moved; nil for nothing.
func (a *Service) toldOf(ctx context.Context, was app.DueBuild, b app.Build, now time.Time) (*app.BuildNews, error) {
	if (b.Callback == nil || b.Callback.URL == "") && !was.Of.Statuses || b.State == was.State || !b.State.Told() {
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

// CallbackURL tells whether a text is an address at all; where it may lead is asked when it is used.
func CallbackURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= webhook.MaxHookURL && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && !strings.ContainsFunc(text, webhook.Unprintable)
}
