package page

import (
	"time"

	"muster/app"
)

// ClusterManage is the page of what can be done with a cluster besides its plans.
type ClusterManage struct {
	Now   time.Time
	Actor app.Actor
	View  app.ClusterView
}

// may tells whether the actor may do something to this cluster.
func (m ClusterManage) may(useCase string) bool {
	return m.View.Status != app.ClusterDeleted && m.Actor.May(useCase, m.View.Owner)
}

// path is an address below the cluster's.
func (m ClusterManage) path(rest string) string { return "/clusters/" + m.View.ID + "/" + rest }
