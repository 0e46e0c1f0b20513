package app

import "regexp"

// CommitState is what a commit shows of a build's cluster.
type CommitState string

// The states.
const (
	CommitPending   CommitState = "pending"   // the cluster is on its way
	CommitSuccess   CommitState = "success"   // it is ready
	CommitFailure   CommitState = "failure"   // there won't be one
	CommitCancelled CommitState = "cancelled" // the build ended before
)

// CommitStatus is a status that is written at a commit, once for each state.
type CommitStatus struct {
	System     string      `json:"system"` // whose API it is
	Repository string      `json:"repository"`
	Commit     string      `json:"commit"`
	Context    string      `json:"context"` // its name, beside those of others
	State      CommitState `json:"state"`
	Words      string      `json:"words"`
	Link       string      `json:"link,omitempty"` // of the cluster's own, the first
}

// Only what can be no other path of the API; the rest of the address is the hook's.
var (
	commitRepository = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$`)
	commitID         = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// CommitStatus is what a build's commit shows in a state; nil where the hook writes none, or the event named no commit that can have one.
func (b Build) CommitStatus(h BuildHook, words string) *CommitStatus {
	e := b.Event
	if !h.Statuses || len(e.Repository) > 255 || !commitRepository.MatchString(e.Repository) || !commitID.MatchString(e.Commit) {
		return nil
	}
	s := &CommitStatus{System: h.System, Repository: e.Repository, Commit: e.Commit, Context: "muster/" + b.Rule, Words: FirstOf(words, b.Words)}
	if e.Job != "" {
		s.Context += "/" + e.Job
	}
	switch b.State {
	case BuildWaiting:
		s.State, s.Words = CommitPending, "Waiting for a cluster."
	case BuildReady:
		s.State = CommitSuccess
	case BuildRefused, BuildFailed:
		s.State, s.Words = CommitFailure, FirstOf(s.Words, "There is no cluster for this build.")
	case BuildOver:
		if !b.ReadyAt.IsZero() {
			return nil // that it was ready remains true
		}
		s.State, s.Words = CommitCancelled, "The build ended before its cluster was ready."
	default:
		return nil
	}
	return s
}

// Shown is a build as people and build systems see it: once its end was told it isn't waiting or ready any more, though its cluster is still
// to be deleted.
func (b Build) Shown() Build {
	if !b.EndAt.IsZero() && b.State.Live() {
		if b.State = BuildEnding; b.Cluster == "" {
			b.State = BuildOver
		}
	}
	return b
}
