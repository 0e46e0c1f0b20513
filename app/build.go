package app

import (
	"cmp"
	"time"
)

// BuildPhase is the phase of a build that an event reports.
type BuildPhase string

// BuildEvent is what a delivery tells, in words that are the same for all build systems. What the system does not say is zero.
type BuildEvent struct {
	System string     `json:"system"`
	Event  string     `json:"event"`            // the system's own name: workflow_job, push, pipeline
	Action string     `json:"action,omitempty"` // the system's own word: queued, completed, opened
	Phase  BuildPhase `json:"phase"`
	// Build names what clusters belong to: all events of one build, and of one try of it, have the same. It begins with the repository or
	// the job: octo/web/actions/runs/123/attempts/1. "" where the event is of no build.
	Build string `json:"build,omitempty"`
	// Job is a part of the build that may want a cluster of its own, by the name that the system shows; "" for the whole of it. Two jobs
	// of a build may be called the same: JobID, the system's own number, is the same in all events of one job and one try of it, and in no other.
	Job         string `json:"job,omitempty"`
	JobID       string `json:"job_id,omitempty"`
	Result      string `json:"result,omitempty"` // of an ended one, the system's own word: success, failed, cancelled
	Repository  string `json:"repository,omitempty"`
	Branch      string `json:"branch,omitempty"`
	Tag         string `json:"tag,omitempty"`
	Commit      string `json:"commit,omitempty"`
	PullRequest int64  `json:"pull_request,omitempty"`
	// Fork says that the code comes from a repository that others write to: rules should not give it what costs money. ForkUnknown says
	// that the system does not tell in this event: GitHub's workflow_job, Jenkins. Both at once never hold.
	Fork        bool   `json:"fork,omitempty"`
	ForkUnknown bool   `json:"fork_unknown,omitempty"`
	Actor       string `json:"actor,omitempty"` // who began it, in the system's words
	URL         string `json:"url,omitempty"`   // https, where a person can look at it; what the sender says, so never fetched
	// Labels are what the build asks for: labels of a workflow job, tags of a pipeline's runner, agent rules.
	Labels []string `json:"labels,omitempty"`
	// FinishedAt is when an ended build or job was over, NewestJobAt when the newest job of it was created, by the sender's clock and as signed:
	// a build that runs again under its old number has jobs that are newer than its end.
	FinishedAt  time.Time `json:"-"`
	NewestJobAt time.Time `json:"-"`
	// CallbackURL is where the build wants status callbacks, "" for nowhere. It may hold a secret.
	CallbackURL string `json:"-"`
	// Payload is the whole of the body, for rules that need more: made of nil, bool, string, int64, float64, []any and map[string]any.
	Payload map[string]any `json:"-"`
}

// BuildClaim makes a cluster, or a request for one, that of a build: it is made only if the build is still as it was, and if its rule has
// room for another one. It is EConflict, reason "build_moved", otherwise.
type BuildClaim struct {
	ID      int64
	Version int64
	AtOnce  int
}

// DefaultKey is the key of rules that say none: the build, and its job where the event is about one.
func (e BuildEvent) DefaultKey() string {
	if job := cmp.Or(e.JobID, e.Job); e.Build != "" && job != "" {
		return e.Build + "#" + job
	}
	return e.Build
}
