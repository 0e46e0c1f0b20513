package github

import (
	"fmt"

	"muster/app"
	appbuild "muster/app/build"
	"muster/portal/buildsystems/internal/payload"
)

// Read reads a body.
func (System) Read(event string, b *payload.Object) app.BuildEvent {
	e := app.BuildEvent{Event: event, Phase: appbuild.PhaseOther, Action: b.Text("action"), Repository: b.In("repository").Text("full_name"), Actor: b.In("sender").Text("login")}
	if notified := eventOf(b); notified != "" {
		e.Event = notified
	}
	switch e.Event {
	case "workflow_job":
		return workflowJob(e, b)
	case "workflow_run":
		return workflowRun(e, b)
	case "push":
		return push(e, b)
	case "pull_request":
		return pullRequest(e, b)
	case "deployment":
		d := b.In("deployment")
		e.Branch, e.Tag = payload.Ref(d.Text("ref"))
		e.Commit = d.Text("sha")
	}
	return e
}

var phases = map[string]app.BuildPhase{
	"queued": appbuild.PhaseQueued, "waiting": appbuild.PhaseQueued, "requested": appbuild.PhaseQueued,
	"in_progress": appbuild.PhaseRunning, "completed": appbuild.PhaseEnded,
}

func phase(action string) app.BuildPhase {
	if p, ok := phases[action]; ok {
		return p
	}
	return appbuild.PhaseOther
}

// build names a run and its attempt; runs of older servers have none and count as the first.
func build(b *payload.Object, run, attempt int64) string {
	return fmt.Sprintf("%s/actions/runs/%d/attempts/%d", b.In("repository").Need("full_name"), run, max(attempt, 1))
}

func workflowJob(e app.BuildEvent, b *payload.Object) app.BuildEvent {
	j := b.In("workflow_job")
	e.Phase = phase(e.Action)
	e.Build = build(b, j.NeedNumber("run_id"), j.Number("run_attempt"))
	e.Job, e.JobID = j.Need("name"), fmt.Sprint(j.NeedNumber("id"))
	e.Branch, e.Commit, e.URL, e.Labels = j.Text("head_branch"), j.Text("head_sha"), j.Text("html_url"), j.Texts("labels")
	e.ForkUnknown = true // it names no head repository
	if result := j.Text("conclusion"); e.Phase == appbuild.PhaseEnded {
		e.Result = result
	}
	return e
}

func workflowRun(e app.BuildEvent, b *payload.Object) app.BuildEvent {
	r := b.In("workflow_run")
	e.Phase = phase(e.Action)
	e.Build = build(b, r.NeedNumber("id"), r.Number("run_attempt"))
	e.Branch, e.Commit, e.URL = r.Text("head_branch"), r.Text("head_sha"), r.Text("html_url")
	if result := r.Text("conclusion"); e.Phase == appbuild.PhaseEnded {
		e.Result = result
	}
	if who := r.In("triggering_actor").Text("login"); who != "" {
		e.Actor = who
	}
	// For pull requests of forks GitHub returns an empty list.
	for i, pr := range r.Objects("pull_requests") {
		if n := pr.Number("number"); i == 0 {
			e.PullRequest = n
		}
	}
	from := r.In("head_repository").Text("full_name")
	e.ForkUnknown, e.Fork = from == "", from != "" && from != e.Repository
	return e
}

func push(e app.BuildEvent, b *payload.Object) app.BuildEvent {
	e.Branch, e.Tag = payload.Ref(b.Need("ref"))
	if commit := b.Text("after"); !payload.None(commit) {
		e.Commit = commit
	}
	created, deleted := b.Bool("created"), b.Bool("deleted")
	if created {
		e.Action = "created"
	} else if deleted {
		e.Action = "deleted"
	}
	if who := b.In("pusher").Text("name"); e.Actor == "" {
		e.Actor = who
	}
	e.URL = b.Text("compare")
	return e
}

func pullRequest(e app.BuildEvent, b *payload.Object) app.BuildEvent {
	p := b.In("pull_request")
	e.PullRequest = b.NeedNumber("number")
	e.Build = fmt.Sprintf("%s/pull/%d", b.In("repository").Need("full_name"), e.PullRequest)
	merged := p.Bool("merged")
	switch e.Action {
	case "opened", "reopened", "synchronize":
		e.Phase = appbuild.PhaseRunning
	case "closed":
		if e.Phase, e.Result = appbuild.PhaseEnded, "closed"; merged {
			e.Result = "merged"
		}
	}
	head, base := p.In("head"), p.In("base")
	e.Branch, e.Commit, e.URL = head.Text("ref"), head.Text("sha"), p.Text("html_url")
	for _, l := range p.Objects("labels") {
		e.Labels = append(e.Labels, l.Text("name"))
	}
	// A null repository is a deleted fork, since a deleted repository has no pull requests of its own.
	e.Fork = head.In("repo").Text("full_name") != base.In("repo").Need("full_name")
	return e
}
