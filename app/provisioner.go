package app

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// ProvisionerState is the state of a provisioner's registration.
type ProvisionerState string

// The states of a registration. Of the last three none is left again: the process registers anew.
const (
	ProvisionerActive   ProvisionerState = "active"
	ProvisionerDraining ProvisionerState = "draining" // its workers end what they have and take nothing new
	ProvisionerLeft     ProvisionerState = "left"     // it ended and said so
	ProvisionerLost     ProvisionerState = "lost"     // it was not heard of for ProvisionerSilence
	ProvisionerRevoked  ProvisionerState = "revoked"  // its token was revoked
)

// Alive tells whether the registration still stands.
func (s ProvisionerState) Alive() bool { return s == ProvisionerActive || s == ProvisionerDraining }

const (
	// ProvisionerBeat is how often a provisioner is heard of.
	ProvisionerBeat = 2 * time.Second
	// ProvisionerSilence is after how long without a heartbeat a provisioner counts as gone. Its slots are given to others at
	// once. The claims of its workers are not: a worker that cannot be heard may still be acting, and stops by itself before
	// its claims run out, so only then does another begin.
	ProvisionerSilence = 3 * ProvisionerBeat
	// MaxSlots is the most that one provisioner may offer.
	MaxSlots = 10000
	maxTags  = 32
)

// Provisioner is a process that runs one worker for each tenant that the server gives it. ID is new with each
// registration; the names of its workers begin with it.
type Provisioner struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	Host         string            `json:"host"`
	Version      string            `json:"version"`
	Token        string            `json:"token,omitempty"` // the name of the token; "" for one inside a server
	Tags         map[string]string `json:"tags,omitempty"`
	Slots        int               `json:"slots"`
	State        ProvisionerState  `json:"state"`
	RegisteredAt time.Time         `json:"registered_at"`
	SeenAt       time.Time         `json:"seen_at"`
	EndedAt      time.Time         `json:"ended_at,omitzero"`
	Tenants      []TenantSlots     `json:"tenants,omitempty"` // sorted by name
	// Only are the tenants whose steps it may be given; none in particular where it is empty.
	Only []string `json:"only,omitempty"`
}

// TenantSlots is what a provisioner does for a tenant.
type TenantSlots struct {
	Tenant  string `json:"tenant"`
	Slots   int    `json:"slots"`
	Running int    `json:"running"` // steps that its worker holds now
}

// Used counts the steps that its workers hold now.
func (p Provisioner) Used() int {
	n := 0
	for _, t := range p.Tenants {
		n += t.Running
	}
	return n
}

// WorkerPrefix begins the names of all workers of a registration, and of no others.
func WorkerPrefix(provisioner string) string { return provisioner + ":" }

// HasTags tells whether all wanted tags are among those that there are.
func HasTags(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// TagText writes tags for people: "network=lab region=eu", sorted; "no tags" where there are none.
func TagText(tags map[string]string) string {
	if len(tags) == 0 {
		return "no tags"
	}
	parts := make([]string, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		parts = append(parts, k+"="+tags[k])
	}
	return strings.Join(parts, " ")
}

// CheckTags refuses tags that cannot be written as NAME=VALUE on a command line and read back.
func CheckTags(tags map[string]string) error {
	if len(tags) > maxTags {
		return Errorf(ETooLarge, "A provisioner has at most %d tags, not %d.", maxTags, len(tags))
	}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		if !TagWord(k) || !TagWord(tags[k]) {
			return &Error{Code: EInvalid, Field: "tags", Message: "The tag " + Clip(k+"="+tags[k]) + " cannot be used.",
				Hint: "A tag is NAME=VALUE; both are 1 to 63 letters, digits, '.', '_', '-' or '/'."}
		}
	}
	return nil
}

func TagWord(s string) bool {
	if len(s) < 1 || len(s) > 63 {
		return false
	}
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._-/", r):
		default:
			return false
		}
	}
	return true
}

// Clip keeps what a stranger sent short and on one line.
func Clip(s string) string {
	const most = 80
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// ProvisionerToken lets provisioners register, and does nothing else. The token itself is nowhere.
type ProvisionerToken struct {
	Name      string    `json:"name"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	UsedAt    time.Time `json:"used_at,omitzero"`
	ProvisionerGrant
}

// WorkWaiter is a Coordinator that tells a worker when there is work, for workers that hear no bells.
type WorkWaiter interface {
	// AwaitWork returns true as soon as a step that the worker may take has been queued for longer than patience, and false
	// when there was none until the context ended or a time of the server's own was over.
	AwaitWork(ctx context.Context, w WorkerID, patience time.Duration) (bool, error)
}

// ProvisionerStore keeps provisioners, their tokens, and which tenants they serve.
type ProvisionerStore interface {
	// CreateProvisionerToken keeps a token's hash; EConflict where the name is taken.
	CreateProvisionerToken(ctx context.Context, t ProvisionerToken, hash []byte) error
	ProvisionerTokens(ctx context.Context) ([]ProvisionerToken, error) // by name
	// RevokeProvisionerToken forgets a token and ends all that registered with it; ENotFound.
	RevokeProvisionerToken(ctx context.Context, name, who string, now time.Time) error
	// ProvisionerTokenOf gives the token of a hash, or ENotFound.
	ProvisionerTokenOf(ctx context.Context, hash []byte) (ProvisionerToken, error)

	AddProvisioner(ctx context.Context, p Provisioner) error
	// Provisioner gives a registration, without its tenants' running steps, or ENotFound.
	Provisioner(ctx context.Context, id string) (Provisioner, error)
	// Provisioners gives all that are kept, those alive first, by name, without their tenants' running steps.
	Provisioners(ctx context.Context) ([]Provisioner, error)
	// BusyProvisioners is the same with how many steps run for each tenant. It looks through all steps that run.
	BusyProvisioners(ctx context.Context) ([]Provisioner, error)
	// TouchProvisioner notes that it was heard of, and begins to drain it where that is asked. It gives the registration as
	// it is then; one that has ended stays so.
	TouchProvisioner(ctx context.Context, id string, draining bool, now time.Time) (Provisioner, error)
	// EndProvisioner gives a registration that is alive its last state, and forgets those that ended a day ago.
	EndProvisioner(ctx context.Context, id string, state ProvisionerState, now time.Time) error
	// DrainProvisioners drains those alive of that name or id, and gives how many; ENotFound where there are none.
	DrainProvisioners(ctx context.Context, name, who string, now time.Time) (int, error)

	// Load gives what a balance is decided from.
	Load(ctx context.Context) (Load, error)
	// Share writes what changes, unless what it was decided from is not true any more: then nothing is written, and false.
	Share(ctx context.Context, version int64, shares []Share) (bool, error)
	// WorkQueued tells whether the tenant has queued steps of providers other than these that were rung (or, unrung, waited)
	// since before then.
	WorkQueued(ctx context.Context, tenant string, except []string, before time.Time) (bool, error)
	// WorkerKey gives the key that tokens of workers are signed with, made when it is first asked for.
	WorkerKey(ctx context.Context) ([]byte, error)
}

// Load is what a balance is decided from. Version changes with every change of provisioners and shares.
type Load struct {
	Version      int64
	Demands      []ProviderDemand
	Provisioners []Provisioner // alive, with the tenants they have
	Idle         map[string]map[string]time.Time
	Slots        map[string]int // of tenants that have a limit of their own
}

// ProviderDemand is what a tenant has to do at one provider.
type ProviderDemand struct {
	Tenant   string
	Provider string
	Steps    int           // queued and running
	Rest     time.Duration // to the end of that operation which is nearest to its end
}

// Share gives a tenant slots of a provisioner; 0 takes them away.
type Share struct {
	Provisioner string
	Tenant      string
	Slots       int
	IdleSince   time.Time // zero while the tenant has steps
}
