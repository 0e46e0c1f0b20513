package jobs

import (
	"context"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/jobs/remote"
)

// ensureAccess lets owners in with certificates that the cluster's key has signed. Machines that share this host's file system
// see to it themselves: the login user's home may be that of a person here. Where it cannot be done the key still opens
// the machine, so that the log says it, and the step continues.
func ensureAccess(ctx context.Context, as *execution.Assignment, sh family.Shell, out family.Output) error {
	if !as.Node.OwnRoot || !remote.OnMachine(sh) || len(as.SSHKey) == 0 {
		return nil
	}
	err := remote.EnsureAuthority(ctx, sh, as.Node.SSHUser, as.SSHKey)
	if e := app.AsError(err); err != nil && e.Reason == "not_written" {
		out(family.StreamErr, "SSH certificates won't work on this machine, only the cluster's key: "+e.Message)
		return nil
	}
	return err
}
