package provisioner

import (
	"context"
	"errors"
	"net"
	"time"

	"muster/app"
	"muster/app/tunnel"
	"muster/jobs/internal/loop"
)

// TunnelSource is a server that asks for connections to nodes.
type TunnelSource interface {
	// AwaitTunnel waits for a request; nil when none came.
	AwaitTunnel(ctx context.Context, provisioner string) (*tunnel.Request, error)
	// AnswerTunnel hands a connection to the server, and carries its bytes until it ends or ctx does; or says why there is none.
	AnswerTunnel(ctx context.Context, provisioner, request string, conn net.Conn, failure *app.Error) error
}

// Dialer connects to an address, as net.Dialer.DialContext does.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

const (
	connectTime = 10 * time.Second
	mostTunnels = 1000 // at the same time
)

// Connect connects to a node, by the guard where a tenant decides its address. Without a guard, none of those is reached.
func Connect(ctx context.Context, guard Dialer, r tunnel.Request) (net.Conn, error) {
	dial := Dialer((&net.Dialer{KeepAlive: 15 * time.Second}).DialContext)
	if r.Guarded {
		if dial = guard; guard == nil {
			return nil, app.Errorf(app.EForbidden, "This provisioner can't use tenants' own providers.")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := dial(ctx, "tcp", r.Address)
	if coded := (*app.Error)(nil); err != nil && !errors.As(err, &coded) {
		err = &app.Error{Code: app.ETransient, Reason: "no_answer", Message: "The node at " + r.Address + " isn't responding", Err: err}
	}
	return conn, err
}

// tunnels answers requests for connections until ctx ends, and then ends those that are open.
func (p *Provisioner) tunnels(ctx context.Context, source TunnelSource, id string) {
	free := make(chan struct{}, mostTunnels)
	for failures := 0; ctx.Err() == nil; {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		r, err := source.AwaitTunnel(ctx, id)
		if r != nil {
			failures = 0
			go func() {
				defer func() { <-free }()
				p.tunnel(ctx, source, id, *r)
			}()
			continue
		}
		<-free
		if err == nil {
			failures = 0
			continue
		}
		failures++
		wait := loop.BackOff(200*time.Millisecond, failures)
		if code := app.CodeOf(err); code == app.ENotFound || code == app.EInvalid { // an older server
			wait = loop.LongestWait
		}
		_ = loop.Pause(ctx, wait)
	}
}

func (p *Provisioner) tunnel(ctx context.Context, source TunnelSource, id string, r tunnel.Request) {
	conn, err := Connect(ctx, p.Guard, r)
	var failure *app.Error
	if err != nil {
		failure = app.AsError(err)
	} else {
		defer conn.Close()
	}
	if err := source.AnswerTunnel(ctx, id, r.ID, conn, failure); err != nil && ctx.Err() == nil {
		p.Log.Warn("could not hand over a connection to a node", "node", r.Address, "error", err)
	}
}
