package jobs

import (
	"context"
	"errors"
	"fmt"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/jobs/remote"
)

// rotationShells are Shells that know machines by several keys. Simulations need not: their machines ask for none.
type rotationShells interface {
	// AwaitAny logs in until one of the targets works, keeps the connection as Await does, and tells which.
	AwaitAny(ctx context.Context, ts ...remote.Target) (hostKey string, which int, err error)
	// Refused reports whether the machine refuses a login; an error where it cannot be known now.
	Refused(ctx context.Context, t remote.Target) (bool, error)
}

func (s sshShells) AwaitAny(ctx context.Context, ts ...remote.Target) (string, int, error) {
	conn, i, err := remote.WaitAny(ctx, ts...)
	if err != nil {
		return "", 0, err
	}
	key := conn.HostKey()
	s.Adopt(ts[i], conn)
	return key, i, nil
}

func (s sshShells) Refused(ctx context.Context, t remote.Target) (bool, error) {
	conn, err := remote.Dial(ctx, t)
	if err == nil {
		return false, conn.Close()
	}
	if e := app.AsError(err); e.Code == app.ECredentials && e.Reason == "auth_refused" {
		return true, nil
	}
	return false, err
}

// adopt has a machine that came from a pool carry its node's tags, where the provider can do that. It is found by its intent in any case, so where that fails
// the machine is taken all the same, unless the provider is the one who lets people in, or was to put it behind the cluster's firewall.
func adopt(ctx context.Context, p family.Provider, as *execution.Assignment, m *family.Machine, out family.Output) error {
	a, ok := p.(family.Adopter)
	if as.FromPool == nil || !ok {
		return nil
	}
	_, can := family.PowerOf[family.Adopter](p)
	_, makes := family.PowerOf[family.Sharer](p)
	kept := as.FromPool.Pool == ""
	if !can && kept { // it is as it was in this cluster
		return nil
	}
	if !can && walled(p, as) {
		e := app.Errorf(app.EInvalid, "Provider %s can't add a firewall to a running machine, and %s came from %s.", as.Provider.Name, m.ID, as.FromPool.Words())
		e.Hint = "Drain the pool, or remove the firewall from the template."
		return e
	}
	err := a.Adopt(ctx, m.ID, as.Machine)
	switch {
	case err == nil:
		m.Tags, m.Hostname = as.Machine.Tags, as.Machine.Hostname
	case m.OwnRoot && app.CodeOf(err) != app.ETransient && ctx.Err() == nil && !walled(p, as) && !(kept && makes):
		out(family.StreamSystem, "The provider kept the machine's old tags: "+app.AsError(err).ForPeople())
	default:
		return fmt.Errorf("%s: adopt %s: %w", as.Provider.Name, m.ID, err)
	}
	return nil
}

// walled reports whether the provider makes the firewall that the cluster has. Where it makes none, no one waits for one: the preview said so.
func walled(p family.Provider, as *execution.Assignment) bool {
	_, makes := family.PowerOf[family.Sharer](p)
	return as.Machine.Firewall != nil && makes
}

// rotateKey makes a machine that came from a pool the cluster's own: the cluster's key opens it, that of the pool does not any more, and it has the
// node's name. It
// can be interrupted anywhere: whichever key the machine knows by then is tried, the new one is there and has been tried before the old one goes, and
// only when the
// old one is refused it is over. The machine proves itself by the same host key all the time. A machine that was made again meanwhile knows the new key only.
func (w *actions) rotateKey(ctx context.Context, p family.Provider, as *execution.Assignment, out family.Output, r *execution.Report) error {
	shells, ok := w.Shells.(rotationShells)
	if !ok || len(as.FromPool.Key) == 0 {
		return w.awaitLogin(ctx, p, as, out, r)
	}
	if remote.SameKey(as.FromPool.Key, as.SSHKey) { // it was kept of this cluster
		if err := w.awaitLogin(ctx, p, as, out, r); err != nil || !as.Node.OwnRoot {
			return err
		}
		return w.over(ctx, as, w.target(as, as.SSHKey), func(sh family.Shell) error { return nameMachine(ctx, as, sh, out) })
	}
	own, pool := w.target(as, as.SSHKey), w.target(as, as.FromPool.Key)
	hostKey, which, err := shells.AwaitAny(remote.Telling(ctx, newProgress(out).login(own)), pool, own)
	if err != nil {
		return err
	}
	if own.HostKey == "" {
		// The key that is pinned now is the one that the whole of it goes by.
		own.HostKey, pool.HostKey, as.Node.HostKey, r.HostKey = hostKey, hostKey, hostKey, hostKey
		out(family.StreamSystem, "Pinned the host key on first contact.")
	}
	if which == 0 {
		if !as.Node.OwnRoot {
			return app.Errorf(app.EInvalid, "The machine from %s shares its host's files, so its keys can't be changed.", as.FromPool.Words())
		}
		if err := w.over(ctx, as, pool, func(sh family.Shell) error { return remote.AuthorizeKey(ctx, sh, as.SSHKey) }); err != nil {
			return err
		}
		if _, err := w.awaited(ctx, own); err != nil {
			return err
		}
	}
	if as.Node.OwnRoot {
		if err := w.over(ctx, as, own, func(sh family.Shell) error { return makeOwn(ctx, as, sh, out) }); err != nil {
			return err
		}
	}
	refused, err := shells.Refused(ctx, pool)
	if err != nil {
		return err
	}
	if !refused {
		return app.Errorf(app.ETransient, "%s still accepts the key of %s.", as.Node.Hostname, as.FromPool.Words())
	}
	out(family.StreamSystem, fmt.Sprintf("%s is reachable at %s with the cluster's own key. The former key no longer works.", as.Node.Hostname, own))
	return nil
}

// over runs f with a shell that was opened by a certain key.
func (w *actions) over(ctx context.Context, as *execution.Assignment, t remote.Target, f func(family.Shell) error) error {
	sh, release, err := w.shell(ctx, t)
	if err != nil {
		return err
	}
	err = f(remote.Under(sh, w.nodeClaim(as)))
	release(app.CodeOf(err) != app.ETransient)
	return err
}

// makeOwn takes the pool's key out of the machine and sets the node's name, which it also finds its own address by. A machine that does not take
// the name is
// used all the same: what services may assume of it is checked afterwards.
func makeOwn(ctx context.Context, as *execution.Assignment, sh family.Shell, out family.Output) error {
	sudo := as.Node.SSHUser != "" && as.Node.SSHUser != "root"
	if err := remote.ForgetKey(ctx, sh, as.FromPool.Key, sudo); err != nil {
		return err
	}
	return nameMachine(ctx, as, sh, out)
}

// nameMachine sets the node's name.
func nameMachine(ctx context.Context, as *execution.Assignment, sh family.Shell, out family.Output) error {
	sudo := as.Node.SSHUser != "" && as.Node.SSHUser != "root"
	self := execution.HostEntryOf(as.Node)
	err := errors.Join(remote.SetHostname(ctx, sh, as.Node.Hostname, sudo), remote.SetHosts(ctx, sh, []family.HostEntry{self}, sudo))
	if code := app.CodeOf(err); err != nil && (code == app.EInvalid || code == app.ECredentials) {
		out(family.StreamErr, app.AsError(err).ForPeople())
		return nil
	}
	return err
}
