package buildkite

import (
	"strings"

	"muster/app"
	appbuild "muster/app/build"
	"muster/portal/buildsystems/internal/payload"
	"muster/portal/buildsystems/internal/seal"
)

// Name is the system's name in Muster.
const Name = "buildkite"

const (
	headerSignature = "X-Buildkite-Signature"
	headerToken     = "X-Buildkite-Token"
	headerEvent     = "X-Buildkite-Event"
	headerRequest   = "X-Buildkite-Request"
)

// System is Buildkite.
type System struct{}

// About describes the system for forms and docs.
func (System) About() appbuild.System {
	return appbuild.System{
		Name: Name, Title: "Buildkite",
		About:  "Reports builds and jobs, signed with the webhook's token, which Buildkite generates.",
		Events: []string{"build.failing", "build.finished", "build.running", "build.scheduled", "job.finished", "job.scheduled", "job.started", "ping"},
		Scheme: "HMAC-SHA256 over time and body in X-Buildkite-Signature, or the token itself in X-Buildkite-Token",
		Steps: []string{
			"In the organization's Settings, open Notification Services and add a Webhook.",
			"Enter the URL as Webhook URL.",
			"Under Token, choose to send an HMAC signature in X-Buildkite-Signature, and enter the token here as the secret.",
			"Select the events build.scheduled, build.running and build.finished, and, if your rules use jobs, job.scheduled, job.started and job.finished.",
		},
		OwnSecret: true,
	}
}

// Verify checks the signature over time and body if there is one; only without one does it accept the token itself.
func (System) Verify(r seal.Request) (appbuild.Delivery, error) {
	d := appbuild.Delivery{ID: r.Header(headerRequest), Unique: seal.Unique(r.Body)} // a repeated delivery has a new time
	if given := r.Header(headerSignature); given != "" {
		stamp, mac, err := parts(given)
		if err != nil {
			return appbuild.Delivery{}, err
		}
		at, err := seal.Time(headerSignature, stamp)
		if err != nil {
			return appbuild.Delivery{}, err
		}
		if !r.HexFits(mac, []byte(stamp+"."), r.Body) {
			return appbuild.Delivery{}, seal.Wrong(headerSignature)
		}
		if err := r.Fresh(headerSignature, at); err != nil {
			return appbuild.Delivery{}, err
		}
		d.SentAt = at
	} else {
		token := r.Header(headerToken)
		if token == "" {
			return appbuild.Delivery{}, seal.Missing(headerSignature, "In the webhook's settings, under Token, choose to send a signature.")
		}
		if !r.Token(token) {
			return appbuild.Delivery{}, seal.Wrong(headerToken)
		}
	}
	if body, err := payload.Parse(r.Body); err == nil {
		d.Event, _ = body.All()["event"].(string)
	}
	if said := r.Header(headerEvent); said != "" && said != d.Event {
		return appbuild.Delivery{}, seal.Disagree(headerEvent, said, d.Event)
	}
	return d, nil
}

// parts splits timestamp=1700000000,signature=abc.
func parts(header string) (stamp, mac string, err error) {
	bad := &app.Error{Code: app.EInvalid, Reason: "header", Field: headerSignature, Message: headerSignature + " must have the form timestamp=…,signature=…"}
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case name == "timestamp" && stamp == "":
			stamp = value
		case name == "signature" && mac == "":
			mac = value
		default:
			return "", "", bad
		}
	}
	if stamp == "" || mac == "" {
		return "", "", bad
	}
	return stamp, mac, nil
}
