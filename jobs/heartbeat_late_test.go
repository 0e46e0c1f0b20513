package jobs

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/execution"
)

// cutOff answers the first heartbeat late, and no other one.
type cutOff struct {
	execution.Coordinator
	beats int
}

func (c *cutOff) Heartbeat(ctx context.Context, _ app.WorkerID, held []app.Fence) ([]execution.Directive, error) {
	if c.beats++; c.beats > 1 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	time.Sleep(beatEvery - 10*time.Millisecond)
	out := make([]execution.Directive, len(held))
	for i, f := range held {
		out[i] = execution.Directive{Fence: f}
	}
	return out, nil
}

// A worker that is cut off stops before its claim runs out, whatever its heartbeats wait for.
func TestStepStopsBeforeItsClaimExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHeartbeat(app.WorkerID{Tenant: "t", Name: "w"}, &cutOff{}, slog.New(slog.DiscardHandler))
		defer h.close()
		began := time.Now()
		ctx, v := h.hold(t.Context(), app.Fence{Operation: 1}, began.Add(execution.ClaimFor))
		defer v.stopGrace()
		<-ctx.Done()
		// The first heartbeat was sent after beatEvery, and the server counts from then on at the earliest.
		if took := time.Since(began); took > beatEvery+execution.ClaimFor {
			t.Errorf("it stopped %s after its claim may have run out", took-beatEvery-execution.ClaimFor)
		}
	})
}
