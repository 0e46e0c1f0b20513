package jobs

import (
	"context"

	"muster/app/family"
	"muster/jobs/remote"
)

// Shells opens shells on nodes. Without one of its own a worker goes over SSH; simulations bring another.
type Shells interface {
	// Get returns a shell on the machine. Call release when done, with healthy false when the connection broke.
	Get(ctx context.Context, t remote.Target) (sh family.Shell, release func(healthy bool), err error)
	// Await logs in until it works, keeps the connection for those who Get it next, and returns the machine's host key.
	Await(ctx context.Context, t remote.Target) (hostKey string, err error)
	Close() error
}

// sshShells is a pool of SSH connections.
type sshShells struct{ *remote.Pool }

var _ Shells = sshShells{}

func (s sshShells) Await(ctx context.Context, t remote.Target) (string, error) {
	conn, err := remote.Wait(ctx, t)
	if err != nil {
		return "", err
	}
	key := conn.HostKey()
	s.Adopt(t, conn)
	return key, nil
}
