package jobs

import (
	"context"
	"errors"
	"net"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/jobs/remote"
)

// actions carries out what single steps ask for. It knows nothing of slots, wake-ups and claims, which are the Worker's.
type actions struct {
	WorkerConfig
	hosts  hostLists
	before preflights
	ctx    context.Context // ends when the worker must drop what it holds
}

func (w *actions) id() app.WorkerID { return app.WorkerID{Tenant: w.Tenant, Name: w.Name} }

// act carries out what a step asks for, and writes what it found out into the report.
func (w *actions) act(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	switch as.Action {
	case app.ActionCreate:
		return w.create(ctx, as, out, r)
	case app.ActionConfirm:
		return w.confirm(ctx, as, out, r)
	case app.ActionBootstrap:
		return w.bootstrap(ctx, as, out, r)
	case app.ActionNames:
		return w.names(ctx, as, out, r)
	case app.ActionDelete:
		unmountKept(ctx, w, as, out, r)
		if err := w.delete(ctx, as, out, r); err != nil {
			return err
		}
		return release(ctx, w, as, out, r)
	case app.ActionCheck:
		return w.check(ctx, as, out)
	case app.ActionCompare:
		return w.compare(ctx, as, out, r)
	case app.ActionRun:
		return runCommand(ctx, w, as, out, r)
	case app.ActionSleep:
		return w.sleep(ctx, as, out)
	case app.ActionBake:
		return w.bake(ctx, as, out, r)
	case app.ActionIsolate:
		return w.isolate(ctx, as, out)
	case app.ActionWake:
		return w.wake(ctx, as, out, r)
	case app.ActionAttach:
		return attach(ctx, w, as, out, r)
	case app.ActionDetach:
		return detach(ctx, w, as, out, r)
	default:
		return w.service(ctx, as, out, r)
	}
}

// onNode runs f with a shell on the step's node, under the step's claim. The connection is kept for later steps unless it
// broke.
func (w *actions) onNode(ctx context.Context, as *execution.Assignment, f func(family.Shell) error) error {
	sh, release, err := w.shell(ctx, w.target(as, as.SSHKey))
	if err != nil {
		return err
	}
	err = f(remote.Under(sh, w.nodeClaim(as)))
	release(app.CodeOf(err) != app.ETransient)
	return err
}

// nodeClaim is what the node is notified of the step's claim. A worker that stops, or that has lost its claim, leaves a service
// action running: the next attempt takes it over. A cancel or the time limit ends it.
func (w *actions) nodeClaim(as *execution.Assignment) remote.Claim {
	return remote.Claim{
		Place: as.Cluster.ID + "." + as.Node.Name, Epoch: as.Epoch, Operation: as.Fence.Operation, Index: as.Fence.Index, Watch: w.watched(as),
		Leave: func(ctx context.Context) bool {
			cause := context.Cause(ctx)
			return errors.Is(cause, errLost) || w.ctx.Err() != nil && !errors.Is(cause, errCancelled) && !errors.Is(cause, errOverTime)
		},
	}
}

func target(n app.Node, key []byte) remote.Target {
	return remote.Target{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: n.SSHUser, HostKey: n.HostKey, PrivateKey: key}
}

// target is where the node of a step is, by the guard where the server says so.
func (w *actions) target(as *execution.Assignment, key []byte) remote.Target {
	return w.guarded(target(as.Node, key), as.Guarded)
}

// guarded puts the guard before a target whose provider is a tenant's own. Without one, none of them is reached.
func (w *actions) guarded(t remote.Target, guarded bool) remote.Target {
	switch {
	case !guarded:
	case w.Guard != nil:
		t.Guard = w.Guard
	default:
		t.Guard = func(context.Context, string, string) (net.Conn, error) {
			return nil, app.Errorf(app.EForbidden, "This worker can't use the tenant's own providers.")
		}
	}
	return t
}

func nodeContext(as *execution.Assignment) family.NodeContext {
	return family.NodeContext{Tenant: as.Tenant, Cluster: as.Cluster.ID, Node: as.Node.Name, Hostname: as.Node.Hostname, Owner: as.Cluster.Owner}
}
