package jenkins

import (
	"fmt"
	"strings"

	"muster/app"
	"muster/app/build"
	"muster/portal/buildsystems/internal/payload"
	"muster/portal/buildsystems/internal/seal"
)

// Name is the system's name in Muster.
const Name = "jenkins"

// System is Jenkins.
type System struct{}

// About describes the system for forms and docs.
func (System) About() build.System {
	return build.System{
		Name: Name, Title: "Jenkins",
		About:  "Reports builds in the format of the Notification plugin, sent by a pipeline step, since the plugin can't sign requests.",
		Events: []string{"build"},
		Scheme: seal.StandardScheme,
		Steps: []string{
			"Store the secret as a credential of kind Secret text with the ID muster-hook-secret.",
			"Copy deploy/ci-examples/Jenkinsfile and deploy/ci-examples/muster-build.sh, and enter the URL in the Jenkinsfile.",
			"Don't enter the URL in the Notification plugin: its requests aren't signed and are rejected.",
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
	return build.Delivery{Event: "build", ID: id, SentAt: at, Unique: seal.Unique([]byte(id), r.Body)}, nil
}

// A completed build has run all its steps; a finalized one has also been saved. Both have ended, since a hook may be set up for only one
// of them.
var phases = map[string]app.BuildPhase{
	"QUEUED": build.PhaseQueued, "STARTED": build.PhaseRunning, "COMPLETED": build.PhaseEnded, "FINALIZED": build.PhaseEnded, "NONE": build.PhaseOther,
}

// Read reads a body.
func (System) Read(_ string, b *payload.Object) app.BuildEvent {
	e := app.BuildEvent{Event: "build", ForkUnknown: true}
	b.Need("name")
	r := b.In("build")
	phase := r.Need("phase")
	e.Action, e.Phase = strings.ToLower(phase), phases[phase]
	if e.Phase == "" {
		r.Wrong("phase", "Must be QUEUED, STARTED, COMPLETED or FINALIZED.")
	}
	if status := r.Text("status"); e.Phase == build.PhaseEnded {
		e.Result = status
	}
	e.Build = strings.Trim(r.Need("url"), "/")
	if n := r.NeedNumber("number"); !strings.HasSuffix(e.Build, fmt.Sprintf("/%d", n)) || strings.Contains(e.Build, "://") {
		r.Wrong("url", "Must be the build's path below Jenkins' own URL, ending with its number: job/web/18/.")
	}
	e.URL = r.Text("full_url")
	scm := r.In("scm")
	_, e.Repository = payload.Repository(scm.Text("url"))
	e.Branch, e.Tag = payload.Ref(strings.TrimPrefix(scm.Text("branch"), "origin/"))
	e.Commit = scm.Text("commit")
	return e
}
