package jobs

import (
	"context"

	"muster/app"
	"muster/jobs/remote"
)

// bootstrap prepares the node for every tool that its services use.
func (w *Worker) bootstrap(ctx context.Context, as *app.Assignment, out app.Output) error {
	return w.onNode(ctx, as, func(sh app.Shell) error {
		for _, name := range as.Automators {
			a, err := w.automator(name)
			if err != nil {
				return err
			}
			if err := a.Bootstrap(ctx, sh, nodeContext(as), out); err != nil {
				return err
			}
		}
		return nil
	})
}

// service carries out one service action.
func (w *Worker) service(ctx context.Context, as *app.Assignment, out app.Output) error {
	a, err := w.automator(as.Call.Automator)
	if err != nil {
		return err
	}
	return w.onNode(ctx, as, func(sh app.Shell) error {
		// Where machines share this host's file system, /etc/hosts is not ours to write.
		if as.Node.OwnRoot {
			if err := remote.EnsureHosts(ctx, sh, as.Hosts, as.Node.SSHUser != "root"); err != nil {
				return err
			}
		}
		return a.Run(ctx, sh, app.ServiceCall{NodeContext: nodeContext(as), Operation: as.Fence.Operation, Step: as.StepID,
			Service: as.Service, Action: as.Action, Fields: as.Call.Fields, Config: as.Config}, out)
	})
}

func (w *Worker) automator(name string) (app.Automator, error) {
	if a := w.Automators[name]; a != nil {
		return a, nil
	}
	return nil, app.Errorf(app.EInvalid, "This worker has no automator %q.", name)
}
