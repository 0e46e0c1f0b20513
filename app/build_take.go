package app

import "time"

// BuildOutcome is what became of a delivery.
type BuildOutcome string

// BuildTaken is what is kept of a delivery that was signed right.
type BuildTaken struct {
	ID      int64        `json:"id"`
	Hook    string       `json:"hook"`
	At      time.Time    `json:"at"`
	SentAt  time.Time    `json:"sent_at,omitzero"` // as signed
	From    string       `json:"from,omitempty"`
	Number  string       `json:"number,omitempty"` // the sender's own
	System  string       `json:"system"`
	Event   string       `json:"event"`
	Action  string       `json:"action,omitempty"`
	Build   string       `json:"build,omitempty"`
	Job     string       `json:"job,omitempty"`
	Outcome BuildOutcome `json:"outcome"`
	Words   string       `json:"words,omitempty"`
	Rule    string       `json:"rule,omitempty"`
	Made    int64        `json:"made,omitempty"` // the build that it is about
	Replays int          `json:"replays,omitempty"`
	Size    int          `json:"size"`           // of the body, in bytes
	Body    string       `json:"body,omitempty"` // only of a single one
}

// BuildOrder is what a delivery is to bring about, as the store takes it. All of it happens in one transaction, once for each Uniq.
type BuildOrder struct {
	Hook     BuildHook
	Who      Actor
	Delivery BuildTaken
	Uniq     string // digest of BuildDelivery.Unique
	Body     []byte
	Replay   int64 // the kept delivery that is run again; 0: it is a new one
	Event    BuildEvent
	Ends     []BuildEnd
	// Begin is nil where nothing is to begin.
	Begin *BuildBegin
	// Extend asks for the build of this key; "" for none.
	Extend string
	Now    time.Time
}

// BuildEnd says which builds of a hook end: those of a build, or the one of a key.
type BuildEnd struct {
	Build string
	Key   string
	// Lasting says that what comes later of it begins nothing any more, unless it is of another run: newer than At. At is zero where that
	// isn't told.
	Lasting bool
	At      time.Time
}

// BuildBegin is a build that wants a cluster.
type BuildBegin struct {
	Rule  BuildRule
	Key   string
	Ask   BuildAsk
	Again bool // one that is over may come again, unless its end was told
	// Reopened says that what was told of its end holds no more.
	Reopened bool
	Call     BuildCall
	// NewestJobAt begins again what has ended before then.
	NewestJobAt time.Time
}

// BuildDone is what an order brought about.
type BuildDone struct {
	Delivery BuildTaken
	Build    *Build // that it is about; nil for none
}
