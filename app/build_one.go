package app

import (
	"strconv"
	"time"
)

// BuildState is how a build stands with its cluster.
type BuildState string

// The states. The first five are those of builds that live.
const (
	BuildWaiting  BuildState = "waiting"  // for its turn
	BuildAsking   BuildState = "asking"   // for approvals
	BuildCreating BuildState = "creating" // its cluster is being made
	BuildReady    BuildState = "ready"
	BuildEnding   BuildState = "ending" // its cluster is being given back
	BuildOver     BuildState = "ended"
	BuildRefused  BuildState = "refused"
	BuildFailed   BuildState = "failed"
)

// Live tells whether it has a cluster, or may get one.
func (s BuildState) Live() bool {
	switch s {
	case BuildWaiting, BuildAsking, BuildCreating, BuildReady, BuildEnding:
		return true
	}
	return false
}

// Build is what one build is to have: a cluster, from when its turn comes until it ends.
type Build struct {
	ID     int64  `json:"id"`
	Tenant string `json:"-"`
	HookID string `json:"-"`
	Hook   string `json:"hook"`
	Owner  string `json:"owner"` // as whom it is done
	Rule   string `json:"rule"`
	Key    string `json:"key"`
	// Of the event that began it:
	Event   BuildEvent `json:"event"`
	State   BuildState `json:"state"`
	Words   string     `json:"words,omitempty"` // why it stands so
	Wanted  BuildAsk   `json:"wanted"`
	Request int64      `json:"request,omitempty"`
	Cluster string     `json:"cluster,omitempty"`
	Ahead   int        `json:"ahead,omitempty"` // of a waiting one: how many of its rule come before
	// Begun is when it was told, Made when its turn came.
	BegunAt   time.Time `json:"begun_at"`
	MadeAt    time.Time `json:"made_at,omitzero"`
	ReadyAt   time.Time `json:"ready_at,omitzero"`
	WaitUntil time.Time `json:"wait_until,omitzero"`
	EndAt     time.Time `json:"end_at,omitzero"` // when its end was told
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// Callback is where it is told how it stands; nil where nobody asked for that.
	Callback *BuildCallbacks `json:"callback,omitempty"`
	// Statuses are what its commit was made to show, and what became of that.
	Statuses []BuildCallback `json:"statuses,omitempty"`

	// How it goes on; see TendBuilds.
	Final   BuildState `json:"-"`
	Tries   int        `json:"-"`
	RetryAt time.Time  `json:"-"`
	DueAt   time.Time  `json:"-"`
	Version int64      `json:"-"`
}

// Object is how a build stands in the audit.
func (b Build) Object() string { return "build " + strconv.FormatInt(b.ID, 10) }

// BuildNode is a machine of a build's cluster.
type BuildNode struct {
	Name     string   `json:"name"`
	Hostname string   `json:"hostname"`
	Address  string   `json:"address,omitempty"`
	Inside   string   `json:"inside,omitempty"` // where its services listen
	User     string   `json:"user"`
	Port     int      `json:"port"`
	Services []string `json:"services"`
	Status   string   `json:"status"`
}

// BuildFilter narrows a list of builds, which is newest first.
type BuildFilter struct {
	ID      int64  // 0: any
	Hook    string // its name
	Key     string // exactly
	Build   string // exactly
	Cluster string
	Live    bool
	Before  int64
	Limit   int // 0: 50; at most 200

	Reader *ClusterReader // only what it may see; nil: all. App sets it.
}
