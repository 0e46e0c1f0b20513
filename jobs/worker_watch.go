package jobs

import (
	"context"
	"errors"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/observe"
	"muster/jobs/remote"
)

// begin begins to count, to follow and to name an attempt of a step. Ended is notified of its end.
func (w *actions) begin(ctx context.Context, as *execution.Assignment) (context.Context, func(r execution.Report, took time.Duration)) {
	ctx = observe.At(ctx, observe.Place{Cluster: as.Cluster.ID, Operation: as.Fence.Operation, Step: as.StepID, Node: as.Node.Name, Attempt: as.Fence.Attempt})
	ctx, end := observe.WithTrace(ctx, as.Trace), noSpan
	if w.Tracer != nil {
		ctx, end = w.Tracer.Begin(ctx, "step "+string(as.Action),
			observe.Attribute{Name: observe.KindAttribute, Value: "consumer"},
			observe.Attribute{Name: "muster.tenant", Value: as.Tenant}, observe.Attribute{Name: "muster.cluster", Value: as.Cluster.ID},
			observe.Attribute{Name: "muster.operation", Value: as.Fence.Operation}, observe.Attribute{Name: "muster.step", Value: as.StepID},
			observe.Attribute{Name: "muster.action", Value: string(as.Action)}, observe.Attribute{Name: "muster.service", Value: as.Service},
			observe.Attribute{Name: "muster.node", Value: as.Node.Name}, observe.Attribute{Name: "muster.attempt", Value: as.Fence.Attempt},
			observe.Attribute{Name: "muster.worker", Value: w.Name})
	}
	w.Meter.Add(observe.MetricStepsOpen, 1)
	return ctx, func(r execution.Report, took time.Duration) {
		var err error
		result := "ok"
		if r.Err != nil { // a nil *Error would be an error
			err, result = r.Err, "failed"
		}
		if r.Retry.Again {
			w.Meter.Add(observe.MetricRetries, 1, app.CodeLabel(err))
		}
		w.Meter.Add(observe.MetricStepsOpen, -1)
		w.Meter.Add(observe.MetricSteps, 1, string(as.Action), app.CodeLabel(err))
		w.Meter.ObserveDuration(observe.MetricStepTime, took, string(as.Action), result)
		end(err, observe.Attribute{Name: "muster.again", Value: r.Retry.Again})
	}
}

// watched returns what follows the commands of a claim; nil where no one wants to know. What a command reads is no one's business here.
func (w *actions) watched(as *execution.Assignment) func(ctx context.Context, verb string) (context.Context, func(exit int, err error)) {
	if w.Tracer == nil {
		return nil
	}
	return func(ctx context.Context, verb string) (context.Context, func(int, error)) {
		ctx, end := w.overSSH(ctx, verb, target(as.Node, nil))
		return ctx, func(exit int, err error) {
			if err == nil && exit != 0 {
				err = app.Errorf(app.EScript, "exit code %d", exit)
			}
			end(err, observe.Attribute{Name: "process.exit.code", Value: exit})
		}
	}
}

// noSpan ends what no one follows. Attributes are made for a tracer only.
func noSpan(error, ...observe.Attribute) {}

// overSSH begins the span of what is done over SSH with a machine.
func (w *actions) overSSH(ctx context.Context, verb string, t remote.Target) (context.Context, func(error, ...observe.Attribute)) {
	if w.Tracer == nil {
		return ctx, noSpan
	}
	return w.Tracer.Begin(ctx, "ssh "+verb, observe.Attribute{Name: observe.KindAttribute, Value: "client"},
		observe.Attribute{Name: "server.address", Value: t.Address}, observe.Attribute{Name: "server.port", Value: t.Port})
}

// shell is Shells.Get, followed.
func (w *actions) shell(ctx context.Context, t remote.Target) (family.Shell, func(bool), error) {
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
		observe.MeterOf(w.Meter).Add(observe.MetricDials, 1, app.CodeLabel(err))
	}
	return key, err
}
