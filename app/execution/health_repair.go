package execution

import (
	"fmt"
	"time"

	"muster/app"
)

// HealthNotice tells that a cluster became sick or well.
func HealthNotice(at time.Time, c app.Cluster, h app.ClusterHealth) app.Notice {
	n := app.Notice{At: at, Tenant: c.Tenant, Kind: app.NoticeHealth, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID)}
	if h.State == app.HealthHealthy {
		n.Title, n.Text = fmt.Sprintf("Cluster %s is well again.", c.Name), "All that is looked at works."
	} else {
		n.Title, n.Text = fmt.Sprintf("Cluster %s is sick.", c.Name), h.Reason
	}
	return n
}
