package buildkite

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"muster/app"
	appbuild "muster/app/build"
	"muster/portal/buildsystems/internal/payload"
)

var phases = map[string]app.BuildPhase{
	"build.scheduled": appbuild.PhaseQueued, "build.running": appbuild.PhaseRunning, "build.failing": appbuild.PhaseRunning, "build.finished": appbuild.PhaseEnded,
	"job.scheduled": appbuild.PhaseQueued, "job.started": appbuild.PhaseRunning, "job.finished": appbuild.PhaseEnded,
}

// Read reads a body.
func (System) Read(_ string, b *payload.Object) app.BuildEvent {
	e := app.BuildEvent{Event: b.Need("event"), Phase: appbuild.PhaseOther}
	of, action, _ := strings.Cut(e.Event, ".")
	phase, known := phases[e.Event]
	if !known {
		return e
	}
	e.Action, e.Phase = action, phase
	r := b.In("build")
	e.Commit, e.Tag, e.URL = r.Text("commit"), r.Text("tag"), r.Text("web_url")
	if branch := r.Text("branch"); e.Tag == "" {
		e.Branch = branch
	}
	e.Actor = r.In("creator").Text("name")
	e.Build = build(r)
	repository := b.In("pipeline").Text("repository")
	_, e.Repository = payload.Repository(repository)
	if e = pull(e, r, repository); e.Event == "build.finished" {
		if e.Result = r.Text("state"); r.Bool("blocked") {
			e.Phase, e.Result = appbuild.PhaseRunning, "" // it waits for a person and continues under the same number
		}
	}
	if of == "job" {
		j := b.In("job")
		e.Job, e.JobID = j.First("name", "step_key"), j.Need("id")
		e.Labels, e.URL = j.Texts("agent_query_rules"), j.Text("web_url")
		if state := j.Text("state"); e.Phase == appbuild.PhaseEnded {
			e.Result = state
		}
	}
	return e
}

// build is the path of a build's page, organization/pipeline/builds/number: no other field names the organization.
func build(r *payload.Object) string {
	u, err := url.Parse(r.Need("web_url"))
	if err != nil {
		r.Wrong("web_url", "Must be a URL.")
		return ""
	}
	p := strings.Trim(u.Path, "/")
	if n := r.NeedNumber("number"); strings.Count(p, "/") != 3 || !strings.HasSuffix(p, fmt.Sprintf("/builds/%d", n)) {
		r.Wrong("web_url", "Must end in organization/pipeline/builds/number, with the build's number.")
	}
	return p
}

// pull reads the pull request, whose number is a string, and which is null or empty if there is none.
func pull(e app.BuildEvent, r *payload.Object, repository string) app.BuildEvent {
	p := r.In("pull_request")
	id := p.Word("id")
	from := p.Text("repository")
	if id == "" {
		return e
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		p.Wrong("id", "Must be the number of a pull request.")
		return e
	}
	e.PullRequest = n
	if e.ForkUnknown = from == "" || repository == ""; !e.ForkUnknown {
		e.Fork = !payload.SameRepository(from, repository)
	}
	return e
}
