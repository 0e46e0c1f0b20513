package coordinator

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/tunnel"
	"muster/jobs/internal/loop"
	"muster/portal/wire"
)

// elsewhereTries is how often the server that waits for a connection is looked for behind a load balancer, which sends each try to another server.
const elsewhereTries = 20

// AwaitTunnel waits for a request for a connection to a node; nil when none came.
func (r *Remote) AwaitTunnel(ctx context.Context, provisioner string) (*tunnel.Request, error) {
	var answer wire.TunnelAwaitAnswer
	ctx, cancel := context.WithTimeout(ctx, awaitAnswer)
	defer cancel()
	err := r.ask(ctx, "tunnel_await", wire.TunnelAwaitMessage{ID: provisioner}, &answer)
	return answer.Request, err
}

// AnswerTunnel hands a connection to the server that waits for it, and carries its bytes until it ends or ctx does; or says why there is none.
func (r *Remote) AnswerTunnel(ctx context.Context, provisioner, request string, conn net.Conn, failure *app.Error) error {
	for try := 1; ; try++ {
		err := r.answerTunnel(ctx, provisioner, request, conn, failure)
		if e := app.AsError(err); err == nil || e.Reason != tunnel.Elsewhere || try == elsewhereTries || ctx.Err() != nil {
			return err
		}
		_ = loop.Pause(ctx, 20*time.Millisecond)
	}
}

func (r *Remote) answerTunnel(ctx context.Context, provisioner, request string, conn net.Conn, failure *app.Error) error {
	if failure != nil {
		return r.ask(ctx, "tunnel_failed", wire.TunnelFailureMessage{ID: provisioner, Request: request, Err: wire.MessageOf(failure)}, &wire.Empty{})
	}
	s, err := r.stream(ctx, provisioner, request)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	wire.Join(s, conn)
	return nil
}

// stream opens the WebSocket of a tunnel, on a connection of its own.
func (r *Remote) stream(ctx context.Context, provisioner, request string) (*wire.Stream, error) {
	var trust *tls.Config
	if t, ok := r.HTTP.Transport.(*http.Transport); ok {
		trust = t.TLSClientConfig
	}
	q := url.Values{wire.TunnelProvisioner: {provisioner}, wire.TunnelRequest: {request}}
	at := strings.TrimSuffix(r.URL, "/") + pathWorker + "tunnel?" + q.Encode()
	s, resp, err := wire.DialStream(ctx, at, http.Header{"Authorization": {"Bearer " + r.Token()}}, trust)
	if err == nil {
		return s, nil
	}
	if resp == nil {
		return nil, r.unreachable(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(resp.Body, wire.MaxFrame))
	if !json.Valid(b) {
		return nil, &app.Error{Code: app.ETransient, Message: "The server at " + r.URL + " or a proxy before it refused a WebSocket: " + resp.Status, Err: err}
	}
	return nil, refused(resp, b)
}
