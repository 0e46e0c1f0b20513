package fleet

import (
	"context"
	"net"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/tunnel"
)

// TunnelRegistry is a Registry over which the server asks provisioners elsewhere for connections to nodes.
type TunnelRegistry interface {
	// AwaitTunnel waits for a request for a connection that the provisioner may make, and takes it; nil when none came within some twenty
	// seconds.
	AwaitTunnel(ctx context.Context, id string) (*tunnel.Request, error)
	// CheckTunnel is tunnel.Service.Check for this provisioner.
	CheckTunnel(ctx context.Context, id, request string) error
	// AnswerTunnel is tunnel.Service.Answer.
	AnswerTunnel(request string, conn net.Conn) bool
	// FailTunnel is tunnel.Service.Fail.
	FailTunnel(ctx context.Context, id, request string, failure *app.Error) error
}

var _ TunnelRegistry = (*registry)(nil)

// tunnelWait is how long AwaitTunnel waits.
const tunnelWait = 20 * time.Second

func (r *registry) AwaitTunnel(ctx context.Context, id string) (*tunnel.Request, error) {
	ctx, cancel := context.WithTimeout(ctx, tunnelWait)
	defer cancel()
	return r.app.Tunnels.Await(ctx, func(ctx context.Context) (app.Provisioner, error) { return r.alive(ctx, id) })
}

func (r *registry) CheckTunnel(ctx context.Context, id, request string) error {
	if _, err := r.alive(ctx, id); err != nil {
		return err
	}
	return r.app.Tunnels.Check(ctx, id, request)
}

func (r *registry) AnswerTunnel(request string, conn net.Conn) bool {
	return r.app.Tunnels.Answer(request, conn)
}

func (r *registry) FailTunnel(ctx context.Context, id, request string, failure *app.Error) error {
	if _, err := r.alive(ctx, id); err != nil {
		return err
	}
	return r.app.Tunnels.Fail(ctx, id, request, failure)
}

// alive is own without registrations that have ended.
func (r *registry) alive(ctx context.Context, id string) (app.Provisioner, error) {
	p, err := r.own(ctx, id)
	if err == nil && !p.State.Alive() {
		err = execution.ErrReplaced
	}
	return p, err
}
