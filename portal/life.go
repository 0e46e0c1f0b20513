package portal

import (
	"context"

	"muster/app"
)

// Life is a power that a Muster may have: what becomes of a cluster besides create and delete. A portal without it has no page to
// manage one.
type Life interface {
	// RenameCluster gives a cluster another name; its id and host names stay.
	RenameCluster(ctx context.Context, a app.Actor, cluster, name string) (app.ClusterView, error)
	// TransferCluster gives a cluster to another user of its tenant.
	TransferCluster(ctx context.Context, a app.Actor, cluster, to string) (app.ClusterView, error)
}

// life gives the power; nil where there is none.
func (p *Portal) life() Life {
	l, _ := p.muster.(Life)
	return l
}
