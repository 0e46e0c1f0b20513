package app

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// ProvisionerState is the state of a provisioner's registration.
type ProvisionerState string

// The states of a registration. Of the last three none is left again: the process registers again.
const (
	ProvisionerActive   ProvisionerState = "active"
	ProvisionerDraining ProvisionerState = "draining" // its workers end what they have and take nothing new
	ProvisionerLeft     ProvisionerState = "left"     // it ended and said so
	ProvisionerLost     ProvisionerState = "lost"     // it was not heard of for ProvisionerSilence
	ProvisionerRevoked  ProvisionerState = "revoked"  // its token was revoked
)

// Alive reports whether the registration is still valid.
func (s ProvisionerState) Alive() bool { return s == ProvisionerActive || s == ProvisionerDraining }

const (
	// ProvisionerHeartbeat is how often a provisioner is heard of.
	ProvisionerHeartbeat = 2 * time.Second
	// ProvisionerSilence is after how long without a heartbeat a provisioner counts as gone. Its slots are given to others at
	// once. The claims of its workers are not: a worker that cannot be heard may still be acting, and stops by itself before
	// its claims run out, so only then does another begin.
	ProvisionerSilence = 3 * ProvisionerHeartbeat
	// MaxSlots is the most that one provisioner may offer.
	MaxSlots = 10000
	MaxTags  = 32
)

// Provisioner is a process that runs one worker for each tenant that the server returns it. ID is new with each
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

// HasTags reports whether all wanted tags are there.
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

// May reports whether the provisioner may carry out a tenant's steps.
func (p Provisioner) May(tenant string) bool {
	return len(p.Only) == 0 || slices.Contains(p.Only, tenant)
}
