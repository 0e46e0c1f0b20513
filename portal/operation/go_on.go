package operation

import (
	"context"

	"muster/app"
	appoperation "muster/app/operation"
)

// GoingOn is a power that a Muster may have: to go on with the machines that came, and to ask for the others later.
type GoingOn interface {
	// PreviewGoOn works out what it would be. EConflict, reason no_go_on, where it cannot be, saying what is missing.
	PreviewGoOn(ctx context.Context, a app.Actor, cluster string, operation int64) (appoperation.GoOnPreview, error)
	// GoOn does it. EConflict, reason plan_changed, where another plan was shown.
	GoOn(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string, noTopUp bool) (app.ClusterView, error)
	// SetTopUp says whether, and when, the nodes that a cluster lacks are asked for again.
	SetTopUp(ctx context.Context, a app.Actor, cluster string, o app.TopUpOrder) (app.ClusterView, error)
}

// GoingOn gives the power; nil where there is none.
func (p *Service) GoingOn() GoingOn {
	g, _ := p.Muster.(GoingOn)
	return g
}
