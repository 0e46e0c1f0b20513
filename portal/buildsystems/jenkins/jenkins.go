package jenkins

import (
	"fmt"
	"strings"

	"muster/app"
	"muster/app/build"
	"muster/portal/buildsystems/internal/payload"
	"muster/portal/buildsystems/internal/seal"
)

// Name is what it is called in Muster.
const Name = "jenkins"

// System is Jenkins.
type System struct{}

// About tells forms and docs.
func (System) About() build.BuildSystem {
	return build.BuildSystem{
		Name: Name, Title: "Jenkins",
		About:  "Tells how builds go in the words of the Notification plugin, sent by a step that signs, since the plugin itself cannot.",
		Events: []string{"build"},
		Scheme: seal.StandardScheme,
		Steps: []string{
			"Keep the secret as a credential of the kind Secret text, with the ID muster-hook-secret.",
			"Copy deploy/ci-examples/Jenkinsfile and deploy/ci-examples/muster-build.sh, and enter the address in the first.",
			"Do not enter the address in the Notification plugin itself: what it sends is not signed and is refused.",
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
	return build.BuildDelivery{Event: "build", ID: id, SentAt: at, Unique: seal.Unique([]byte(id), r.Body)}, nil
}

// A completed build has run its steps, and what it does after them; a finalized one is also written down. Both have ended: a hook may be set
// to one of them alone.
var phases = map[string]app.BuildPhase{
	"QUEUED": build.BuildQueued, "STARTED": build.BuildRunning, "COMPLETED": build.BuildEnded, "FINALIZED": build.BuildEnded, "NONE": build.BuildOther,
}

// Read understands a body.
func (System) Read(_ string, b *payload.Object) app.BuildEvent {
	e := app.BuildEvent{Event: "build", ForkUnknown: true}
	b.Need("name")
	r := b.In("build")
	phase := r.Need("phase")
	e.Action, e.Phase = strings.ToLower(phase), phases[phase]
	if e.Phase == "" {
		r.Wrong("phase", "It is QUEUED, STARTED, COMPLETED or FINALIZED.")
	}
	if status := r.Text("status"); e.Phase == build.BuildEnded {
		e.Result = status
	}
	e.Build = strings.Trim(r.Need("url"), "/")
	if n := r.NeedNumber("number"); !strings.HasSuffix(e.Build, fmt.Sprintf("/%d", n)) || strings.Contains(e.Build, "://") {
		r.Wrong("url", "It is the build's path below Jenkins' own address, with its number at the end: job/web/18/.")
	}
	e.URL = r.Text("full_url")
	scm := r.In("scm")
	_, e.Repository = payload.Repository(scm.Text("url"))
	e.Branch, e.Tag = payload.Ref(strings.TrimPrefix(scm.Text("branch"), "origin/"))
	e.Commit = scm.Text("commit")
	return e
}
