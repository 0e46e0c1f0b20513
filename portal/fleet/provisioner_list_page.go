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

// ProvisionerList is the page of provisioners.
type ProvisionerList struct {
	Now          time.Time
	Provisioners []app.Provisioner // registered ones first
}

// Alive returns the registered provisioners.
func (l ProvisionerList) Alive() []app.Provisioner {
	return slices.DeleteFunc(slices.Clone(l.Provisioners), func(p app.Provisioner) bool { return !p.State.Alive() })
}

// Summary counts provisioners and slots: "2 provisioners with 32 slots, 5 in use."
func (l ProvisionerList) Summary() string {
	alive := l.Alive()
	slots, used := 0, 0
	for _, p := range alive {
		slots += p.Slots
		used += p.Used()
	}
	if len(alive) == 0 {
		return "No provisioners. Operations wait until one starts."
	}
	return humanize.Count(len(alive), "provisioner") + " with " + humanize.Count(slots, "slot") + ", " + strconv.Itoa(used) + " in use."
}

// heardOf is when a provisioner was last seen; the server's own is always there.
func (l ProvisionerList) heardOf(p app.Provisioner) string {
	if strings.HasPrefix(p.ID, fleet.LocalPrefix) && p.State.Alive() {
		return "part of a server"
	}
	return humanize.Ago(l.Now, p.SeenAt)
}

// tenantLine is a tenant's running steps and slots: "acme: 3 of 8".
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
