package app

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
	System      string      `json:"system"` // whose API it is
	Repository  string      `json:"repository"`
	Commit      string      `json:"commit"`
	Context     string      `json:"context"` // its name, beside those of others
	State       CommitState `json:"state"`
	Description string      `json:"description"`
	Link        string      `json:"link,omitempty"` // of the cluster's own, the first
}
