package jobs

import (
	"context"

	"muster/app"
	"muster/jobs/remote"
)

// act carries out what a step asks for, and writes what it found out into the report.
func (w *Worker) act(ctx context.Context, as *app.Assignment, out app.Output, r *app.Report) error {
	switch as.Action {
	case app.ActionCreate:
		return w.create(ctx, as, out, r)
	case app.ActionConfirm:
		return w.confirm(ctx, as, out, r)
	case app.ActionBootstrap:
		return w.bootstrap(ctx, as, out)
	case app.ActionDelete:
		return w.delete(ctx, as, out, r)
	default:
		return w.service(ctx, as, out)
	}
}

// onNode runs f with a shell on the step's node. The connection is kept for later steps unless it broke.
func (w *Worker) onNode(ctx context.Context, as *app.Assignment, f func(app.Shell) error) error {
	sh, release, err := w.Shells.Get(ctx, target(as.Node, as.SSHKey))
	if err != nil {
		return err
	}
	err = f(sh)
	release(app.CodeOf(err) != app.ETransient)
	return err
}

func target(n app.Node, key []byte) remote.Target {
	return remote.Target{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: n.SSHUser, HostKey: n.HostKey, PrivateKey: key}
}

func nodeContext(as *app.Assignment) app.NodeContext {
	return app.NodeContext{Tenant: as.Tenant, Cluster: as.Cluster.ID, Node: as.Node.Name, Hostname: as.Node.Hostname, Owner: as.Cluster.Owner}
}
