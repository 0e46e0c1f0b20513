package circleci

import (
	"strconv"
	"strings"

	"muster/app"
	"muster/app/build"
	"muster/portal/buildsystems/internal/payload"
	"muster/portal/buildsystems/internal/seal"
)

// Name is the system's name in Muster.
const Name = "circleci"

const (
	headerSignature = "Circleci-Signature"
	headerEvent     = "Circleci-Event-Type"
)

// System is CircleCI.
type System struct{}

// About describes the system for forms and docs.
func (System) About() build.System {
	return build.System{
		Name: Name, Title: "CircleCI",
		About:  "Reports the end of workflows and jobs, but not their start: a step of the job requests the cluster.",
		Events: []string{"job-completed", "workflow-completed"},
		Scheme: "HMAC-SHA256 over the body in circleci-signature",
		Steps: []string{
			"In Project Settings, open Webhooks and add a webhook.",
			"Enter the URL as Receiver URL, and the secret as Secret token.",
			"Select Workflow Completed and, if your rules use jobs, Job Completed. Keep certificate verification on.",
			"Add the step in deploy/ci-examples/circleci-config.yml to jobs that need a cluster, since CircleCI doesn't report when jobs start.",
		},
	}
}

// Verify checks the HMAC over the body. The header may have signatures of several versions; only the first is supported.
func (System) Verify(r seal.Request) (build.Delivery, error) {
	given := r.Header(headerSignature)
	if given == "" {
		return build.Delivery{}, seal.Missing(headerSignature, "Enter this hook's secret as Secret token in the webhook's settings.")
	}
	fits := false
	for i, one := range strings.Split(given, ",") {
		if mac, v1 := strings.CutPrefix(strings.TrimSpace(one), "v1="); v1 && i < 10 && r.HexFits(mac, r.Body) {
			fits = true
		}
	}
	if !fits {
		return build.Delivery{}, seal.Wrong(headerSignature)
	}
	d := build.Delivery{Unique: seal.Unique(r.Body)}
	if body, err := payload.Parse(r.Body); err == nil {
		d.Event, _ = body.All()["type"].(string)
		d.ID, _ = body.All()["id"].(string)
	}
	if said := r.Header(headerEvent); said != "" && said != d.Event {
		return build.Delivery{}, seal.Disagree(headerEvent, said, d.Event)
	}
	return d, nil
}

// Read reads a body.
func (System) Read(_ string, b *payload.Object) app.BuildEvent {
	e := app.BuildEvent{Event: b.Need("type"), Phase: build.PhaseOther}
	if e.Event != "workflow-completed" && e.Event != "job-completed" {
		return e
	}
	w := b.In("workflow")
	e.Action, e.Phase, e.URL, e.Result = "completed", build.PhaseEnded, w.Text("url"), w.Text("status")
	if e.Repository = name(b.In("project")); e.Repository != "" {
		e.Build = e.Repository + "/workflows/" + w.Need("id")
	}
	if e.Event == "job-completed" {
		j := b.In("job")
		e.Job, e.JobID, e.Result = j.Need("name"), j.Need("id"), j.Text("status")
	}
	p := b.In("pipeline")
	if p.Has("vcs") {
		return source(e, p.In("vcs"))
	}
	// For GitLab, GitHub App and Bitbucket Data Center, CircleCI doesn't report the source of the code.
	git := p.In("trigger_parameters").In("git")
	if _, path := payload.Repository(git.Text("checkout_url")); path != "" {
		e.Repository = path
	}
	e.Branch, e.Tag, e.Commit, e.ForkUnknown = git.Text("branch"), git.Text("tag"), git.Text("checkout_sha"), true
	if e.Tag != "" {
		e.Branch = ""
	}
	e.Actor = p.In("trigger_parameters").In("gitlab").Text("user_username")
	return e
}

// name returns organization and project of a slug such as gh/acme/web, without the host, as jobs name them.
func name(project *payload.Object) string {
	parts := strings.Split(project.Need("slug"), "/")
	if len(parts) != 3 {
		project.Wrong("slug", "Must have the form gh/acme/web.")
		return ""
	}
	return parts[1] + "/" + parts[2]
}

// source reads what GitHub OAuth and Bitbucket Cloud report.
func source(e app.BuildEvent, vcs *payload.Object) app.BuildEvent {
	e.Branch, e.Tag, e.Commit = vcs.Text("branch"), vcs.Text("tag"), vcs.Text("revision")
	from, to := vcs.Text("origin_repository_url"), vcs.Text("target_repository_url")
	if _, path := payload.Repository(to); path != "" {
		e.Repository = path
	}
	if e.ForkUnknown = from == "" || to == ""; !e.ForkUnknown {
		e.Fork = !payload.SameRepository(from, to)
	}
	// Pull requests of forks are built as the branch pull/12.
	if of, ok := strings.CutPrefix(e.Branch, "pull/"); ok {
		if n, err := strconv.ParseInt(of, 10, 64); err == nil && n > 0 {
			e.PullRequest = n
		}
	}
	return e
}
