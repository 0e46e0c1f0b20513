package jobs

import (
	"context"
	"errors"
	"time"

	"muster/app"
	"muster/jobs/remote"
)

// begin begins to count, to follow and to name an attempt of a step. Ended is told of its end.
func (w *actions) begin(ctx context.Context, as *app.Assignment) (context.Context, func(r app.Report, took time.Duration)) {
	ctx = app.At(ctx, app.Place{Cluster: as.Cluster.ID, Operation: as.Fence.Operation, Step: as.StepID, Node: as.Node.Name, Attempt: as.Fence.Attempt})
	ctx, end := app.Begin(app.WithTrace(ctx, as.Trace), w.Tracer, "step "+string(as.Action), app.Fact{Name: app.FactKind, Value: "consumer"},
		app.Fact{Name: "muster.tenant", Value: as.Tenant}, app.Fact{Name: "muster.cluster", Value: as.Cluster.ID},
		app.Fact{Name: "muster.operation", Value: as.Fence.Operation}, app.Fact{Name: "muster.step", Value: as.StepID},
		app.Fact{Name: "muster.action", Value: string(as.Action)}, app.Fact{Name: "muster.service", Value: as.Service},
		app.Fact{Name: "muster.node", Value: as.Node.Name}, app.Fact{Name: "muster.attempt", Value: as.Fence.Attempt},
		app.Fact{Name: "muster.worker", Value: w.Name})
	w.Meter.Add(app.MetricStepsOpen, 1)
	return ctx, func(r app.Report, took time.Duration) {
		var err error
		result := "ok"
		if r.Err != nil { // a nil *Error would be an error
			err, result = r.Err, "failed"
		}
		if r.Retry.Again {
			w.Meter.Add(app.MetricRetries, 1, app.CodeLabel(err))
		}
		w.Meter.Add(app.MetricStepsOpen, -1)
		w.Meter.Add(app.MetricSteps, 1, string(as.Action), app.CodeLabel(err))
		w.Meter.Took(app.MetricStepTime, took, string(as.Action), result)
		end(err, app.Fact{Name: "muster.again", Value: r.Retry.Again})
	}
}

// watched gives what follows the commands of a claim; nil where nobody wants to know. What a command reads is nobody's business here.
func (w *actions) watched(as *app.Assignment) func(ctx context.Context, verb string) (context.Context, func(exit int, err error)) {
	if w.Tracer == nil {
		return nil
	}
	return func(ctx context.Context, verb string) (context.Context, func(int, error)) {
		ctx, end := w.overSSH(ctx, verb, target(as.Node, nil))
		return ctx, func(exit int, err error) {
			if err == nil && exit != 0 {
				err = app.Errorf(app.EScript, "exit code %d", exit)
			}
			end(err, app.Fact{Name: "process.exit.code", Value: exit})
		}
	}
}

// overSSH begins the span of what is done over SSH with a machine.
func (w *actions) overSSH(ctx context.Context, verb string, t remote.Target) (context.Context, func(error, ...app.Fact)) {
	return app.Begin(ctx, w.Tracer, "ssh "+verb, app.Fact{Name: app.FactKind, Value: "client"},
		app.Fact{Name: "server.address", Value: t.Address}, app.Fact{Name: "server.port", Value: t.Port})
}

// shell is Shells.Get, followed.
func (w *actions) shell(ctx context.Context, t remote.Target) (app.Shell, func(bool), error) {
	in, end := w.overSSH(ctx, "connect", t)
	sh, release, err := w.Shells.Get(in, t)
	end(err)
	return sh, release, err
}

// awaited is Shells.Await, followed and counted.
func (w *actions) awaited(ctx context.Context, t remote.Target) (string, error) {
	in, end := w.overSSH(ctx, "wait", t)
	key, err := w.Shells.Await(in, t)
	end(err)
	if !errors.Is(err, context.Canceled) {
		app.MeterOf(w.Meter).Add(app.MetricDials, 1, app.CodeLabel(err))
	}
	return key, err
}
