package fleet

import (
	"context"

	"muster/app/execution"
	"muster/portal/site"
	"muster/portal/wire"
)

// round waits for a batch of health checks. If its answer is lost, the batch is due again when it expires.
func (a *WorkerAPI) round(ctx context.Context, c execution.Coordinator, m wire.RoundMessage) (wire.RoundAnswer, error) {
	keeper, ok := c.(execution.HealthKeeper)
	if !ok {
		return wire.RoundAnswer{}, site.ErrNoSuchPage
	}
	ctx, cancel := a.whileOpen(ctx)
	defer cancel()
	r, err := keeper.AwaitRound(ctx, m.Worker)
	return wire.RoundAnswer{Round: r}, err
}

func workerRoundEnd(ctx context.Context, c execution.Coordinator, m wire.RoundEndMessage) (wire.Empty, error) {
	keeper, ok := c.(execution.HealthKeeper)
	if !ok {
		return wire.Empty{}, site.ErrNoSuchPage
	}
	return wire.Empty{}, keeper.ReportRound(ctx, m.Worker, m.Report)
}
