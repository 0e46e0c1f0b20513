package generic

import (
	"net/url"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/build"
	"muster/portal/buildsystems/internal/payload"
	"muster/portal/buildsystems/internal/seal"
)

// Name is the system's name in Muster.
const Name = "generic"

// fields are all allowed fields.
var fields = []string{"event", "action", "phase", "build", "job", "job_id", "result", "repository", "branch", "tag", "commit", "pull_request", "fork", "actor", "url", "labels", "data", "callback_url"}

const maxLabels = 50

// System is any build system that can run a script.
type System struct{}

// About describes the system for forms and docs.
func (System) About() build.System {
	return build.System{
		Name: Name, Title: "Other (signed JSON)",
		About:  "Accepts signed JSON in Muster's own format from any script, so it works with every build system.",
		Events: []string{"build"},
		Scheme: seal.StandardScheme,
		Steps: []string{
			"Store the secret in your build system as MUSTER_HOOK_SECRET.",
			"Set MUSTER_HOOK_URL to the URL.",
			"Run deploy/ci-examples/muster-build.sh in jobs that need a cluster, or send the JSON described in docs/build-systems.md.",
		},
		Standard: true,
	}
}

// Verify checks a signature of Standard Webhooks.
func (System) Verify(r seal.Request) (build.Delivery, error) {
	id, at, err := r.Standard()
	if err != nil {
		return build.Delivery{}, err
	}
	d := build.Delivery{ID: id, SentAt: at, Unique: seal.Unique([]byte(id), r.Body)}
	if body, err := payload.Parse(r.Body); err == nil {
		d.Event, _ = body.All()["event"].(string)
	}
	return d, nil
}

// Read reads a body. Its author can fix it, so unknown or overlong fields are errors instead of being dropped.
func (System) Read(_ string, b *payload.Object) app.BuildEvent {
	b.Only(fields...)
	text := func(name string) string {
		s := b.Text(name)
		if len(s) > build.MaxBuildField {
			b.Wrong(name, "Must be at most "+strconv.Itoa(build.MaxBuildField)+" bytes.")
		}
		if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			b.Wrong(name, "Must not contain control characters.")
		}
		return s
	}
	e := app.BuildEvent{Event: text("event"), Action: text("action"), Phase: app.BuildPhase(text("phase")), Build: text("build"), Job: text("job"), JobID: text("job_id"),
		Result: text("result"), Repository: text("repository"), Branch: text("branch"), Tag: text("tag"), Commit: text("commit"), PullRequest: b.Number("pull_request"),
		Fork: b.Bool("fork"), ForkUnknown: !b.Has("fork"), Actor: text("actor"), URL: text("url"), Labels: b.Texts("labels")}
	b.In("data")
	if e.CallbackURL = b.Text("callback_url"); e.CallbackURL != "" && !build.CallbackURL(e.CallbackURL) {
		b.Wrong("callback_url", "Must be an https:// URL.")
	}
	b.Need("event")
	switch e.Phase {
	case "":
		e.Phase = build.PhaseOther
	case build.PhaseQueued, build.PhaseRunning, build.PhaseEnded:
		b.Need("build")
	case build.PhaseOther:
	default:
		b.Wrong("phase", "Must be queued, running, ended or other.")
	}
	if len(e.Build) > build.MaxBuildKey {
		b.Wrong("build", "Must be at most "+strconv.Itoa(build.MaxBuildKey)+" bytes.")
	}
	if len(e.Labels) > maxLabels {
		b.Wrong("labels", "Must have at most "+strconv.Itoa(maxLabels)+" labels.")
	}
	if u, err := url.Parse(e.URL); e.URL != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil) {
		b.Wrong("url", "Must be an https:// URL without a password.")
	}
	return e
}
