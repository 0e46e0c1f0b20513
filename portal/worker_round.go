package portal

import (
	"context"

	"muster/app"
)

// round waits for a round of health checks. One whose answer is lost is due again when it is given up.
func (a *WorkerAPI) round(ctx context.Context, c app.Coordinator, m app.RoundMessage) (app.RoundAnswer, error) {
	keeper, ok := c.(app.HealthKeeper)
	if !ok {
		return app.RoundAnswer{}, errNoSuchPage
	}
	ctx, cancel := a.whileOpen(ctx)
	defer cancel()
	r, err := keeper.AwaitRound(ctx, m.Worker)
	return app.RoundAnswer{Round: r}, err
}

func workerRoundEnd(ctx context.Context, c app.Coordinator, m app.RoundEndMessage) (app.Empty, error) {
	keeper, ok := c.(app.HealthKeeper)
	if !ok {
		return app.Empty{}, errNoSuchPage
	}
	return app.Empty{}, keeper.ReportRound(ctx, m.Worker, m.Report)
}
