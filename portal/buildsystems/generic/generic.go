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

// Name is what it is called in Muster.
const Name = "generic"

// fields are all that may be sent.
var fields = []string{"event", "action", "phase", "build", "job", "job_id", "result", "repository", "branch", "tag", "commit", "pull_request", "fork", "actor", "url", "labels", "data", "callback_url"}

const maxLabels = 50

// System is whatever runs a script.
type System struct{}

// About tells forms and docs.
func (System) About() build.BuildSystem {
	return build.BuildSystem{
		Name: Name, Title: "Other (signed JSON)",
		About:  "Takes JSON in Muster's own words from any script that signs it, so also from systems that are not listed.",
		Events: []string{"build"},
		Scheme: seal.StandardScheme,
		Steps: []string{
			"Keep the secret among the secrets of your build system, as MUSTER_HOOK_SECRET.",
			"Enter the address as MUSTER_HOOK_URL.",
			"Run deploy/ci-examples/muster-build.sh in the job that wants a cluster, or send what docs/build-systems.md tells.",
		},
		Standard: true,
	}
}

// Verify looks at a signature of Standard Webhooks.
func (System) Verify(r seal.Request) (build.BuildDelivery, error) {
	id, at, err := r.Standard()
	if err != nil {
		return build.BuildDelivery{}, err
	}
	d := build.BuildDelivery{ID: id, SentAt: at, Unique: seal.Unique([]byte(id), r.Body)}
	if body, err := payload.Parse(r.Body); err == nil {
		d.Event, _ = body.All()["event"].(string)
	}
	return d, nil
}

// Read understands a body. Whoever wrote it can mend it, so what is not known or too long is refused and not left out.
func (System) Read(_ string, b *payload.Object) app.BuildEvent {
	b.Only(fields...)
	text := func(name string) string {
		s := b.Text(name)
		if len(s) > build.MaxBuildField {
			b.Wrong(name, "It is longer than "+strconv.Itoa(build.MaxBuildField)+" bytes.")
		}
		if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			b.Wrong(name, "It has control characters.")
		}
		return s
	}
	e := app.BuildEvent{Event: text("event"), Action: text("action"), Phase: app.BuildPhase(text("phase")), Build: text("build"), Job: text("job"), JobID: text("job_id"),
		Result: text("result"), Repository: text("repository"), Branch: text("branch"), Tag: text("tag"), Commit: text("commit"), PullRequest: b.Number("pull_request"),
		Fork: b.Bool("fork"), ForkUnknown: !b.Has("fork"), Actor: text("actor"), URL: text("url"), Labels: b.Texts("labels")}
	b.In("data")
	if e.CallbackURL = b.Text("callback_url"); e.CallbackURL != "" && !build.CallbackURL(e.CallbackURL) {
		b.Wrong("callback_url", "It is not an address with https://.")
	}
	b.Need("event")
	switch e.Phase {
	case "":
		e.Phase = build.BuildOther
	case build.BuildQueued, build.BuildRunning, build.BuildEnded:
		b.Need("build")
	case build.BuildOther:
	default:
		b.Wrong("phase", "It is queued, running, ended or other.")
	}
	if len(e.Build) > build.MaxBuildKey {
		b.Wrong("build", "It is longer than "+strconv.Itoa(build.MaxBuildKey)+" bytes.")
	}
	if len(e.Labels) > maxLabels {
		b.Wrong("labels", "There are more than "+strconv.Itoa(maxLabels)+".")
	}
	if u, err := url.Parse(e.URL); e.URL != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil) {
		b.Wrong("url", "It is not an address with https:// and without a password.")
	}
	return e
}
