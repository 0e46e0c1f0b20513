package app

import (
	"fmt"
	"strings"
	"time"
)

// How builds are called back.
const (
	// BuildCallbackTime is for how long one callback is tried, from when it was queued: about fourteen times. One that waited behind
	// another for longer is tried once all the same.
	BuildCallbackTime = 6 * time.Hour
	// BuildCallbackMark begins the message ids of callbacks. No hook takes a delivery with such an id, so that what we have signed cannot be
	// sent back to us.
	BuildCallbackMark = "muster_callback_"
	// BuildCallbackNone is what a rule says that wants nobody to be told, whatever the event says.
	BuildCallbackNone = "none"

	MaxCallbackText = 2000 // bytes of a rule's callback
)

// BuildCall is where a build that begins is to be told how it stands.
type BuildCall struct {
	URL   string // may hold a secret; "" for nowhere
	Shown string // URL without what may be secret
	Why   string // why nowhere, where there was to be one
}

// BuildCallbacks is where a build is told, and what became of that.
type BuildCallbacks struct {
	URL  string          `json:"url,omitempty"` // without what may be secret
	Why  string          `json:"why,omitempty"` // why nobody is told, or is any more
	Told []BuildCallback `json:"told"`
}

// BuildCallback is what a build is told once: that it is ready, refused, failed or ended.
type BuildCallback struct {
	ID int64 `json:"id"`
	// MessageID is what the receiver is told in the header webhook-id, the same at every attempt.
	MessageID string        `json:"message_id"`
	State     BuildState    `json:"state"`
	Outcome   DeliveryState `json:"outcome"`
	Attempts  int           `json:"attempts"`
	QueuedAt  time.Time     `json:"queued_at"`
	NextAt    time.Time     `json:"next_at,omitzero"` // of a waiting one: not before then
	EndedAt   time.Time     `json:"ended_at,omitzero"`
	// Of the last attempt:
	Status int           `json:"status,omitempty"` // 0: no answer
	Took   time.Duration `json:"took,omitempty"`
	Code   Code          `json:"code,omitempty"` // "": it was taken, or not tried yet
	Error  string        `json:"error,omitempty"`
}

// BuildNews is what a callback tells: how the build stood at that time. It holds no credentials.
type BuildNews struct {
	At      time.Time     `json:"at"`
	Build   int64         `json:"build"`
	Hook    string        `json:"hook"`
	Key     string        `json:"key"`
	Name    string        `json:"name,omitempty"` // the build, as its events name it
	Job     string        `json:"job,omitempty"`
	State   BuildState    `json:"state"`
	Words   string        `json:"words,omitempty"`
	Cluster string        `json:"cluster,omitempty"`
	Nodes   []BuildNode   `json:"nodes,omitempty"`  // of a ready one
	Status  *CommitStatus `json:"status,omitempty"` // what its commit is to show
	HookID  string        `json:"-"`                // the hook's, below which the build is looked at with its token
}

// Told tells whether builds are called back about a state.
func (s BuildState) Told() bool {
	return s == BuildReady || s == BuildRefused || s == BuildFailed || s == BuildOver
}

// News is what is told of a build as it stands.
func (b Build) News(now time.Time, nodes []BuildNode) BuildNews {
	return BuildNews{At: now, Build: b.ID, Hook: b.Hook, Key: b.Key, Name: b.Event.Build, Job: b.Event.Job, State: b.State, Words: b.Words, Cluster: b.Cluster,
		Nodes: nodes, HookID: b.HookID}
}

// Line says in one line what became of it.
func (c BuildCallback) Line(now time.Time) string {
	tries := fmt.Sprintf("%d attempts", c.Attempts)
	if c.Attempts == 1 {
		tries = "1 attempt"
	}
	if c.Status > 0 {
		tries += fmt.Sprintf(", status %d", c.Status)
	}
	words := ""
	switch {
	case c.Outcome == DeliveryMade:
		words = "delivered after " + tries
	case c.Outcome == DeliveryFailed:
		words = "given up after " + tries
	case c.Attempts == 0:
		return string(c.State) + ": not sent yet"
	case c.NextAt.After(now):
		words = fmt.Sprintf("sent again in %s, after %s", c.NextAt.Sub(now).Round(time.Second), tries)
	default:
		words = "being sent, " + tries
	}
	if c.Error != "" {
		words += ". " + c.Error
	}
	return string(c.State) + ": " + words
}

// RedactedCallback is a rule's callback without the query that it was written with.
func (r BuildRule) RedactedCallback() string {
	before, _, _ := strings.Cut(r.Callback, "${")
	if i := strings.IndexByte(before, '?'); i >= 0 {
		return r.Callback[:i] + "?…"
	}
	return r.Callback
}
