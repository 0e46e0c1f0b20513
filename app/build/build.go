package build

import (
	"time"

	"muster/app"
)

// The phases. PhaseOther is of events that are no part of a build, such as a push or a deployment that was asked for: rules may
// act upon them, and nothing ends by itself with them.
const (
	PhaseQueued  app.BuildPhase = "queued"  // it waits for someone to run it
	PhaseRunning app.BuildPhase = "running" // it runs
	PhaseEnded   app.BuildPhase = "ended"   // however it ended; nothing of it runs any more
	PhaseOther   app.BuildPhase = "other"
)

// The limits of what build systems send.
const (
	MaxBuildBody  = 1 << 20         // bytes of one delivery; GitHub's own limit is 25 MB, what rules need is far smaller
	ClockSkew     = 5 * time.Minute // how old a signed time may be, or how far ahead; that of Standard Webhooks
	MaxBuildKey   = 300             // bytes of BuildEvent.Build
	MaxBuildField = 1000            // bytes of each other word of a BuildEvent
)

// Delivery is one request of a build system whose signature was found to be right.
type Delivery struct {
	System string // a System's name
	// Event is the system's own name for what happened, as far as it can be trusted: workflow_job, pipeline. "" where it says none.
	Event string
	// ID is the sender's own number of the delivery, to show it beside the sender's list. It may be unsigned: nothing depends on it.
	ID string
	// Unique is the same for a delivery that is sent again and differs from all others. It follows from what is signed alone.
	Unique string
	SentAt time.Time // as signed; zero where the scheme signs no time
	Body   []byte
}

// System says of a build system what forms and docs need.
type System struct {
	Name   string   `json:"name"`   // github
	Title  string   `json:"title"`  // GitHub Actions
	About  string   `json:"about"`  // one sentence: what it sends, by which scheme it is signed
	Events []string `json:"events"` // those that are understood, sorted; others are taken and noted, and no rule sees them
	// Scheme is how its deliveries are signed, for docs: "HMAC-SHA256 in X-Hub-Signature-256".
	Scheme string `json:"scheme"`
	// Steps tell where secret and address are entered there, one sentence each.
	Steps []string `json:"steps"`
	// OwnSecret says that the system makes the secret and the admin brings it here; otherwise Muster makes it, in SecretForm.
	OwnSecret bool `json:"own_secret"`
	// Standard says that the secret is in the form of Standard Webhooks, whsec_ and base64.
	Standard bool `json:"standard"`
	// Token says that a secret of any other form may travel along as it is, too.
	Token bool `json:"token"`
	// StatusAPI is its public API at which commit statuses are written; "" where it has none.
	StatusAPI string `json:"status_api,omitempty"`
	// StatusOwn is that API on a server of one's own, as an example, and StatusAccess says which token may write there.
	StatusOwn    string `json:"status_own,omitempty"`
	StatusAccess string `json:"status_access,omitempty"`
}

// Systems knows the build systems. It is pure: it reads no clock and opens nothing.
type Systems interface {
	// Systems returns all, sorted by name.
	Systems() []System
	// Verify looks whether a delivery was signed with one of the secrets (two while one is replaced), in constant time over the body
	// as it came, and how old its signed time is. header returns a header's first value, "" for none. Errors: EUnauthorized without a
	// signature, with a wrong one, or with a time beyond ClockSkew, and they say which; EInvalid for headers that make no sense;
	// ENotFound for a system that is not known.
	Verify(system string, header func(name string) string, body []byte, secrets []string, now time.Time) (Delivery, error)
	// Read understands a verified delivery, also one that was kept and is looked at again. Errors: EInvalid with the place for a body
	// that is not what the system sends. An event of a kind that is not understood is no error: Phase is PhaseOther, Build "".
	Read(d Delivery) (app.BuildEvent, error)
}
