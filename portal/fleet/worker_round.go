package fleet

import (
	"context"

	"muster/app/execution"
	"muster/portal/site"
	"muster/portal/wire"
)

// round waits for a batch of health checks. If its answer is lost, the batch is due again when it expires.
func (a *WorkerAPI) round(ctx context.Context, c execution.Coordinator, m wire.CheckBatchMessage) (wire.CheckBatchAnswer, error) {
	keeper, ok := c.(execution.CheckBatchSource)
	if !ok {
		return wire.CheckBatchAnswer{}, site.ErrNoSuchPage
	}
	ctx, cancel := a.whileOpen(ctx)
	defer cancel()
	r, err := keeper.AwaitCheckBatch(ctx, m.Worker)
	return wire.CheckBatchAnswer{Round: r}, err
}

func workerRoundEnd(ctx context.Context, c execution.Coordinator, m wire.CheckBatchEndMessage) (wire.Empty, error) {
	keeper, ok := c.(execution.CheckBatchSource)
	if !ok {
		return wire.Empty{}, site.ErrNoSuchPage
	}
	return wire.Empty{}, keeper.ReportCheckBatch(ctx, m.Worker, m.Report)
}
