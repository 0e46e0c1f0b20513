package github

import (
	"bytes"
	"slices"
	"strings"

	"muster/app"
	appbuild "muster/app/build"
	"muster/portal/buildsystems/internal/payload"
	"muster/portal/buildsystems/internal/seal"
)

// Name is the system's name in Muster.
const Name = "github"

const (
	headerSignature = "X-Hub-Signature-256"
	headerEvent     = "X-GitHub-Event"
	headerDelivery  = "X-GitHub-Delivery"
)

// System is GitHub.
type System struct{}

// About describes the system for forms and docs.
func (System) About() appbuild.System {
	return appbuild.System{
		Name: Name, Title: "GitHub Actions",
		About:        "Reports workflow runs and jobs, pushes, pull requests and deployments, signed with a shared secret.",
		Events:       []string{"deployment", "ping", "pull_request", "push", "workflow_job", "workflow_run"},
		Scheme:       "HMAC-SHA256 over the body in X-Hub-Signature-256",
		StatusAPI:    "https://api.github.com",
		StatusOwn:    "https://github.example.com/api/v3",
		StatusAccess: "A fine-grained token with the repository permission “Commit statuses: read and write”, or a classic token with the scope repo:status.",
		Steps: []string{
			"In the settings of the repository or organization, open Webhooks and add a webhook.",
			"Enter the URL as Payload URL, and choose application/json as Content type.",
			"Enter the secret as Secret, and keep SSL verification on.",
			"Select the individual events that your rules use: Workflow jobs, Workflow runs, Pushes, Pull requests, Deployments.",
		},
	}
}

// Verify checks the HMAC over the body. The headers with the delivery's ID and the event's name aren't signed: the first is only shown,
// and the second must match the body.
func (System) Verify(r seal.Request) (appbuild.Delivery, error) {
	given := r.Header(headerSignature)
	if given == "" {
		hint := "Enter this hook's secret in the webhook's settings."
		if r.Header("X-Hub-Signature") != "" {
			hint = "X-Hub-Signature uses SHA-1, which isn't accepted."
		}
		return appbuild.Delivery{}, seal.Missing(headerSignature, hint)
	}
	mac, sha256 := strings.CutPrefix(given, "sha256=")
	if !sha256 || !r.HexFits(mac, r.Body) {
		return appbuild.Delivery{}, seal.Wrong(headerSignature)
	}
	if bytes.HasPrefix(r.Body, []byte("payload=")) || strings.HasPrefix(r.Header("Content-Type"), "application/x-www-form-urlencoded") {
		return appbuild.Delivery{}, &app.Error{Code: app.EInvalid, Reason: "form", Field: "Content-Type", Message: "The webhook sends forms instead of JSON.",
			Hint: "Choose application/json as Content type in the webhook's settings."}
	}
	d := appbuild.Delivery{Event: r.Header(headerEvent), ID: r.Header(headerDelivery), Unique: seal.Unique(r.Body)}
	if body, err := payload.Parse(r.Body); err == nil {
		event := eventOf(body)
		// An unknown event has the name in the header, unless that's the name of a known one.
		if d.Event != "" && d.Event != event && (event != "" || slices.Contains(System{}.About().Events, d.Event)) {
			return appbuild.Delivery{}, seal.Disagree(headerEvent, d.Event, event)
		}
		if event != "" {
			d.Event = event
		}
	}
	return d, nil
}

// eventOf recognizes an event by its body alone, "" for an unknown one. Many events contain objects of others: a review has its pull
// request, a deployment its workflow run. So it looks for what only one event has.
func eventOf(b *payload.Object) string {
	switch {
	case b.Has("workflow_job"):
		return "workflow_job"
	case b.Has("deployment_status"):
		return "deployment_status"
	case b.Has("deployment") && !b.Has("deployment_callback_url"):
		return "deployment"
	case b.Has("workflow_run") && !b.Has("since") && !b.Has("deployment"):
		return "workflow_run"
	case b.Has("pull_request") && b.Has("number") && !b.Has("review") && !b.Has("comment") && !b.Has("thread"):
		return "pull_request"
	case b.Has("ref") && b.Has("before") && b.Has("after"):
		return "push"
	case b.Has("zen") && b.Has("hook_id"):
		return "ping"
	}
	return ""
}
