package gitlab

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/portal/buildsystems/internal/payload"
)

// Read reads a body.
func (System) Read(_ string, b *payload.Object) app.BuildEvent {
	project := b.In("project")
	e := app.BuildEvent{Event: b.Text("object_kind"), Phase: build.PhaseOther, Repository: project.Text("path_with_namespace"), Actor: b.In("user").First("username", "name")}
	switch e.Event {
	case "pipeline":
		return pipeline(e, b)
	case "build":
		return job(e, b)
	case "push", "tag_push":
		return push(e, b)
	case "merge_request":
		return mergeRequest(e, b)
	case "deployment":
		e.Action, e.URL = b.Text("status"), b.Text("deployable_url")
		e.Branch = b.Text("ref")
		if at := b.Text("commit_url"); strings.Contains(at, "/commit/") {
			e.Commit = path.Base(at)
		}
	case "":
		if b.Text("event_name") == "" { // group events have this instead
			b.Wrong("object_kind", "This field is required.")
		}
	}
	return e
}

var phases = map[string]app.BuildPhase{
	"created": build.PhaseQueued, "waiting_for_resource": build.PhaseQueued, "preparing": build.PhaseQueued, "pending": build.PhaseQueued,
	"scheduled": build.PhaseQueued, "manual": build.PhaseQueued, "waiting_for_callback": build.PhaseQueued,
	"running": build.PhaseRunning, "canceling": build.PhaseRunning,
	"success": build.PhaseEnded, "failed": build.PhaseEnded, "canceled": build.PhaseEnded, "skipped": build.PhaseEnded,
}

// told sets phase and result by a status.
func notified(e app.BuildEvent, status string) app.BuildEvent {
	e.Action = status
	if p, ok := phases[status]; ok {
		e.Phase = p
	}
	if e.Phase == build.PhaseEnded {
		e.Result = status
	}
	return e
}

// ref sets branch, tag or merge request, whose source is unknown here.
func ref(e app.BuildEvent, ref string, tag bool) app.BuildEvent {
	if of, ok := strings.CutPrefix(ref, "refs/merge-requests/"); ok {
		n, _, _ := strings.Cut(of, "/")
		e.PullRequest, _ = strconv.ParseInt(n, 10, 64)
		e.PullRequest = max(e.PullRequest, 0)
		e.ForkUnknown = true
		return e
	}
	if e.Branch, e.Tag = payload.Ref(ref); tag && e.Tag == "" {
		e.Branch, e.Tag = "", e.Branch
	}
	return e
}

func pipeline(e app.BuildEvent, b *payload.Object) app.BuildEvent {
	a := b.In("object_attributes")
	e = ref(notified(e, a.Need("status")), a.Text("ref"), a.Bool("tag"))
	e.Build = fmt.Sprintf("%s/-/pipelines/%d", b.In("project").Need("path_with_namespace"), a.NeedNumber("id"))
	e.Commit, e.URL = a.Text("sha"), a.Text("url")
	e.FinishedAt = moment(a.Text("finished_at"))
	for _, job := range b.Objects("builds") { // a pipeline that runs again has the same number, and new jobs
		if at := moment(job.Text("created_at")); at.After(e.NewestJobAt) {
			e.NewestJobAt = at
		}
	}
	if b.Has("merge_request") {
		e = request(e, b.In("merge_request"))
	}
	return e
}

// moment parses a time in one of GitLab's past formats; zero if missing.
func moment(text string) time.Time {
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700"} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// request sets the fields of a merge request.
func request(e app.BuildEvent, m *payload.Object) app.BuildEvent {
	e.PullRequest, e.Branch = m.NeedNumber("iid"), m.Text("source_branch")
	from, to := m.Number("source_project_id"), m.Number("target_project_id")
	e.ForkUnknown, e.Fork = from == 0 || to == 0, from != to
	return e
}

func job(e app.BuildEvent, b *payload.Object) app.BuildEvent {
	e = ref(notified(e, b.Need("build_status")), b.Text("ref"), b.Bool("tag"))
	web := b.In("project").Text("web_url")
	if home := b.In("repository").Text("homepage"); e.Repository == "" { // GitLab before 16.7 sends no project here
		web = home
		_, e.Repository = payload.Repository(home)
	}
	if e.Repository == "" {
		b.In("project").Need("path_with_namespace")
	}
	id := b.NeedNumber("build_id")
	e.Build = fmt.Sprintf("%s/-/pipelines/%d", e.Repository, b.NeedNumber("pipeline_id"))
	e.Job, e.JobID = b.Need("build_name"), fmt.Sprint(id)
	e.FinishedAt, e.NewestJobAt = moment(b.Text("build_finished_at")), moment(b.Text("build_created_at"))
	e.Commit, e.Labels = b.Text("sha"), b.In("runner").Texts("tags")
	e.URL = fmt.Sprintf("%s/-/jobs/%d", web, id)
	return e
}

func push(e app.BuildEvent, b *payload.Object) app.BuildEvent {
	e = ref(e, b.Need("ref"), false)
	e.ForkUnknown = false // only people with write access can push to a project
	e.Actor, e.URL = b.First("user_username", "user_name"), b.In("project").Text("web_url")
	before, after := b.Text("before"), b.Text("after")
	switch {
	case payload.None(after):
		e.Action = "deleted"
	case payload.None(before):
		e.Action = "created"
	}
	if !payload.None(after) {
		e.Commit = after
	}
	return e
}

func mergeRequest(e app.BuildEvent, b *payload.Object) app.BuildEvent {
	a := b.In("object_attributes")
	e = request(e, a)
	e.Action, e.URL, e.Commit = a.Text("action"), a.Text("url"), a.In("last_commit").Text("id")
	e.Build = fmt.Sprintf("%s/-/merge_requests/%d", b.In("project").Need("path_with_namespace"), e.PullRequest)
	moved, state := a.Text("oldrev") != "", a.Text("state")
	switch e.Action {
	case "open", "reopen":
		e.Phase = build.PhaseRunning
	case "update":
		if moved { // else it is a title or a label
			e.Phase = build.PhaseRunning
		}
	case "close", "merge":
		e.Phase, e.Result = build.PhaseEnded, state
	}
	for _, l := range b.Objects("labels") {
		e.Labels = append(e.Labels, l.Text("title"))
	}
	return e
}
