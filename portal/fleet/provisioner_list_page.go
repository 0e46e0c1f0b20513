package fleet

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
)

// provisionerList is the page of who carries out steps.
type ProvisionerList struct {
	Now          time.Time
	Provisioners []app.Provisioner // those alive first
}

// Alive returns those that are registered now.
func (l ProvisionerList) Alive() []app.Provisioner {
	return slices.DeleteFunc(slices.Clone(l.Provisioners), func(p app.Provisioner) bool { return !p.State.Alive() })
}

// Summary says in one sentence what is there: "2 provisioners with 32 slots; 5 are in use."
func (l ProvisionerList) Summary() string {
	alive := l.Alive()
	slots, used := 0, 0
	for _, p := range alive {
		slots += p.Slots
		used += p.Used()
	}
	if len(alive) == 0 {
		return "Nobody carries out steps: whatever is asked for waits."
	}
	return humanize.Count(len(alive), "provisioner") + " with " + humanize.Count(slots, "slot") + "; " + humanize.CountOf(used, "is in use.", "are in use.")
}

// heardOf says when a provisioner was last heard of; the server's own need not say so.
func (l ProvisionerList) heardOf(p app.Provisioner) string {
	if strings.HasPrefix(p.ID, fleet.LocalPrefix) && p.State.Alive() {
		return "in a server"
	}
	return humanize.Ago(l.Now, p.SeenAt)
}

// tenantLine says what a provisioner does for a tenant: "acme: 3 of 8".
func tenantLine(t app.TenantSlots) string {
	return t.Tenant + ": " + strconv.Itoa(t.Running) + " of " + strconv.Itoa(t.Slots)
}

func provisionerWord(s app.ProvisionerState) string {
	switch s {
	case app.ProvisionerActive:
		return "active"
	case app.ProvisionerDraining:
		return "draining"
	case app.ProvisionerLeft:
		return "ended"
	case app.ProvisionerLost:
		return "lost"
	case app.ProvisionerRevoked:
		return "revoked"
	}
	return string(s)
}
