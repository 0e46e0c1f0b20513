package window

import (
	"slices"
	"strconv"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/window"
	"muster/portal/page"
)

// Show is the page of the windows of a tenant or of a cluster.
type Show struct {
	Now     time.Time
	View    window.View
	Form    window.Settings // with empty rows to fill in
	Bad     page.Complaint
	May     bool        // change them
	Cluster app.Cluster // zero on the tenant's page
}

// spareRows are the empty rows of the form.
const spareRows = 2

func newShow(now time.Time, v window.View, typed *window.Settings, bad page.Complaint) Show {
	s := Show{Now: now, View: v, Form: v.Settings, Bad: bad}
	if typed != nil {
		s.Form = *typed
	}
	s.Form.Windows = slices.Clone(s.Form.Windows)
	for range spareRows {
		if len(s.Form.Windows) < window.MostWindows {
			s.Form.Windows = append(s.Form.Windows, window.Window{})
		}
	}
	if s.Form.AppliesTo == nil {
		s.Form.AppliesTo = window.DefaultReasons()
	}
	return s
}

func (s Show) applies(r window.Reason) bool { return slices.Contains(s.Form.AppliesTo, r) }

func (s Show) action() string {
	if s.Cluster.ID == "" {
		return "/admin/maintenance"
	}
	return "/clusters/" + s.Cluster.ID + "/maintenance"
}

// source says whose windows a cluster has.
func (s Show) source() string {
	switch {
	case s.View.Source == window.FromCluster && s.View.None():
		return "This cluster has no maintenance windows, whatever the tenant's are: nothing waits."
	case s.View.Source == window.FromCluster:
		return "This cluster has its own maintenance windows instead of the tenant's."
	case s.View.Source == window.FromTenant && s.View.TenantLocked:
		return "These are the tenant's maintenance windows. Clusters can't have their own."
	case s.View.Source == window.FromTenant:
		return "These are the tenant's maintenance windows."
	}
	return "No maintenance windows: changes start at once."
}

// ReasonWords is a kind of change for people.
func ReasonWords(r window.Reason) string {
	switch r {
	case window.Repair:
		return "Repairs, by people"
	case window.AutoRepair:
		return "Repairs, automatic"
	case window.Approved:
		return "Approved changes of any kind"
	case window.Upgrade:
		return "Upgrades"
	case window.Resize:
		return "Changes of size"
	case window.AddServices:
		return "Adding services"
	case window.RemoveServices:
		return "Removing services"
	case window.Reconfigure:
		return "New configurations"
	case window.Restart:
		return "Restarts"
	case window.Stop:
		return "Stopping services"
	}
	return humanize.Spaced(string(r))
}

func rowID(field string, i int) string { return field + "-" + strconv.Itoa(i+1) }
