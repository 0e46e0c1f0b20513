package image

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/bake"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/plan"
)

// State is the state of an image.
type State string

// The states of an image.
const (
	StateWaiting  State = "waiting"  // to be built: its account builds one at a time
	StateBuilding State = "building" // its machine is created, set up and copied
	StateReady    State = "ready"
	StateFailed   State = "failed"
	StateDeleting State = "deleting" // the provider may still have it
)

// Image is a baked image.
type Image struct {
	ID          int64         `json:"id"`
	Tenant      string        `json:"-"`
	Key         string        `json:"key"` // a hash of all that it is made of
	Template    string        `json:"template"`
	Provider    string        `json:"provider"`
	Zone        string        `json:"zone,omitempty"`
	Hardware    string        `json:"hardware"`
	Base        string        `json:"base"` // the image that it is based on
	Services    []string      `json:"services"`
	State       State         `json:"state"`
	Image       string        `json:"image,omitempty"` // by the provider's name
	Cluster     string        `json:"cluster,omitempty"`
	CreatedBy   string        `json:"created_by"`
	CreatedAt   time.Time     `json:"created_at"`
	ReadyAt     time.Time     `json:"ready_at,omitzero"`
	UsedAt      time.Time     `json:"used_at,omitzero"`
	Uses        int           `json:"uses"`         // machines that started from it
	InstallTime time.Duration `json:"install_time"` // how long its installs took
	UnusedAt    time.Time     `json:"unused_at,omitzero"`
	Error       string        `json:"error,omitempty"`
	Keep        time.Duration `json:"-"`
	Recipe      Recipe        `json:"-"`
}

// Recipe is what an image is built by.
type Recipe struct {
	Definition cluster.Definition `json:"definition"`
	Layer      bake.Image         `json:"layer"`
	Node       plan.Node          `json:"node"`
}

// Rule says when images of a template are built by themselves.
type Rule struct {
	Tenant       string        `json:"-"`
	Template     string        `json:"template"`
	AfterCreates int           `json:"after_creates"`
	Within       time.Duration `json:"within"`
	KeepUnused   time.Duration `json:"keep_unused"`
	SetBy        string        `json:"set_by"`
	SetAt        time.Time     `json:"set_at"`
}

// View is all that people see of images.
type View struct {
	Images []Image `json:"images"`
	Rules  []Rule  `json:"rules"`
}

// Built is the answer to a request for images of a template.
type Built struct {
	Images []Image  `json:"images"`         // ready, or being built
	Left   []string `json:"left,omitempty"` // why installs are not in them
}

// Bounds of images and rules.
const (
	MaxImages    = 200 // of a tenant
	MaxRules     = 200
	mostCreates  = 1000
	leastWithin  = time.Hour
	mostWithin   = 90 * 24 * time.Hour
	leastKeep    = time.Hour
	mostKeep     = 365 * 24 * time.Hour
	KeepUnused   = 30 * 24 * time.Hour
	KeepFailures = 7 * 24 * time.Hour
	buildTime    = 6 * time.Hour // after which the machine of a build is deleted in any case
)

// Check refuses what no rule can be.
func (r Rule) Check() error {
	bad := func(field, format string, args ...any) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case r.AfterCreates < 1 || r.AfterCreates > mostCreates:
		return bad("after_creates", "An image can be built after 1 to %d clusters, not %d.", mostCreates, r.AfterCreates)
	case r.Within < leastWithin || r.Within > mostWithin:
		return bad("within", "Clusters can be counted within %s to %s, not %s.", humanize.Duration(leastWithin), humanize.Duration(mostWithin),
			humanize.Duration(r.Within))
	case r.KeepUnused < leastKeep || r.KeepUnused > mostKeep:
		return bad("keep_unused", "Unused images can be kept for %s to %s, not %s.", humanize.Duration(leastKeep), humanize.Duration(mostKeep),
			humanize.Duration(r.KeepUnused))
	}
	return nil
}

// Text says a rule in words.
func (r Rule) Text() string {
	return fmt.Sprintf("after %s within %s, kept for %s unused", humanize.Count(r.AfterCreates, "cluster"), humanize.Duration(r.Within),
		humanize.Duration(r.KeepUnused))
}
