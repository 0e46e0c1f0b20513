package app

// BuildState is a build's state.
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

// Live reports whether it has a cluster, or may get one.
func (s BuildState) Live() bool {
	switch s {
	case BuildWaiting, BuildAsking, BuildCreating, BuildReady, BuildEnding:
		return true
	}
	return false
}

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
