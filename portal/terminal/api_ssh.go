package terminal

import (
	"context"
	"net"
	"time"

	"muster/app"
	"muster/portal/site"
	"muster/portal/wire"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
)

type sshInput struct {
	site.IDInput
	Node string `path:"node" maxLength:"255" doc:"Node name"`
}

// streamOf documents an operation that is a WebSocket.
func streamOf(o *huma.Operation) {
	o.Metadata = map[string]any{site.MetaStream: true}
	o.Responses = map[string]*huma.Response{"101": {Description: "The connection continues as a WebSocket whose binary messages are the bytes"}}
}

// accessEvery is how soon an open connection notices that its user may no longer use the node.
const accessEvery = 10 * time.Second

// apiSSH connects a program to the SSH port of a node, through the server and, where only that reaches it, a provisioner.
func (p *Service) apiSSH(ctx context.Context, in *sshInput) (*huma.StreamResponse, error) {
	a := site.Caller(ctx)
	free, err := p.Streams.TakeAsk(a)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	conn, err := p.NodeAccess.SSHStream(ctx, a, in.ID, in.Node)
	if err != nil {
		free()
		return nil, p.Fail(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer free()
		defer conn.Close()
		r, w := humachi.Unwrap(hc)
		if !wire.IsStream(r) {
			p.AnswerError(w, r, &app.Error{Code: app.EInvalid, Message: "This operation is a WebSocket.", Hint: "Use `muster cluster ssh --through-server`."})
			return
		}
		s, err := wire.AcceptStream(w, r)
		if err != nil {
			return // it has answered
		}
		p.carry(hc.Context(), a, in, s, conn)
	}}, nil
}

// carry copies between a program and a node, until either leaves, the server stops, or the access ends.
func (p *Service) carry(ctx context.Context, a app.Actor, in *sshInput, s *wire.Stream, conn net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		wire.Join(s, conn)
	}()
	tick := time.NewTicker(accessEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			look, cancel := context.WithTimeout(context.WithoutCancel(ctx), accessEvery)
			now, err := site.CallerNow(look)
			if err == nil {
				err = p.NodeAccess.CheckSSHStream(look, now, in.ID, in.Node)
			}
			cancel()
			ended := err != nil && app.CodeOf(err) != app.ETransient && app.CodeOf(err) != app.ETimeout && app.CodeOf(err) != app.EInternal
			if !ended {
				continue
			}
		case <-p.Closing:
		}
		_ = s.Close()
		<-done
		return
	}
}
