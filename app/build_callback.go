package app

import "time"

// How builds are called back.
const (
	// BuildCallbackTime is for how long one callback is tried, from when it was queued: about fourteen times. One that waited behind
	// another for longer is tried once all the same.
	BuildCallbackTime = 6 * time.Hour
	// BuildCallbackMark begins the message ids of callbacks. No hook takes a delivery with such an id, so that what we have signed cannot be
	// sent back to us.
	BuildCallbackMark = "muster_callback_"
	// BuildCallbackNone is what a rule says that turns callbacks off, whatever the event says.
	BuildCallbackNone = "none"

	MaxCallbackText = 2000 // bytes of a rule's callback
)

// BuildNews is what a callback reports: the build's state at that time. It holds no credentials.
type BuildNews struct {
	At      time.Time     `json:"at"`
	Build   int64         `json:"build"`
	Hook    string        `json:"hook"`
	Key     string        `json:"key"`
	Name    string        `json:"name,omitempty"` // the build, as its events name it
	Job     string        `json:"job,omitempty"`
	State   BuildState    `json:"state"`
	Message string        `json:"message,omitempty"`
	Cluster string        `json:"cluster,omitempty"`
	Nodes   []BuildNode   `json:"nodes,omitempty"`  // of a ready one
	Status  *CommitStatus `json:"status,omitempty"` // what its commit is to show
	HookID  string        `json:"-"`                // the hook's, below which the build is looked at with its token
}

// HasCallback reports whether builds get a callback for a state.
func (s BuildState) HasCallback() bool {
	return s == BuildReady || s == BuildRefused || s == BuildFailed || s == BuildOver
}
