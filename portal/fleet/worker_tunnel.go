package fleet

import (
	"context"
	"net/http"
	"strings"

	"muster/app"
	"muster/app/fleet"
	"muster/portal/site"
	"muster/portal/wire"
)

// addTunnels adds how provisioners are asked for connections to nodes, and hand them over.
func (a *WorkerAPI) addTunnels() {
	a.mux.Handle("POST "+WorkerPath+"tunnel_await", registryCall(a, a.awaitTunnel))
	a.mux.Handle("POST "+WorkerPath+"tunnel_failed", registryCall(a, tunnelFailed))
	a.mux.HandleFunc("GET "+WorkerPath+"tunnel", a.tunnel)
}

func (a *WorkerAPI) awaitTunnel(r fleet.Registry, ctx context.Context, m wire.TunnelAwaitMessage) (wire.TunnelAwaitAnswer, error) {
	t, ok := r.(fleet.TunnelRegistry)
	if !ok {
		return wire.TunnelAwaitAnswer{}, site.ErrNoSuchPage
	}
	ctx, cancel := a.whileOpen(ctx)
	defer cancel()
	q, err := t.AwaitTunnel(ctx, m.ID)
	return wire.TunnelAwaitAnswer{Request: q}, err
}

func tunnelFailed(r fleet.Registry, ctx context.Context, m wire.TunnelFailureMessage) (wire.Empty, error) {
	t, ok := r.(fleet.TunnelRegistry)
	if !ok {
		return wire.Empty{}, site.ErrNoSuchPage
	}
	failure := m.Err.Error()
	if failure == nil {
		failure = app.Errorf(app.ETransient, "The node isn't reachable.")
	}
	return wire.Empty{}, t.FailTunnel(ctx, m.ID, m.Request, failure)
}

// tunnel takes over a connection to a node. It ends where the server that asked for it ends it.
func (a *WorkerAPI) tunnel(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		a.refuse(w, r, &app.Error{Code: app.EUnauthorized, Message: "A provisioner token is required."})
		return
	}
	reg, err := a.tokens.RegistryOfToken(r.Context(), token)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	t, ok := reg.(fleet.TunnelRegistry)
	if !ok {
		a.refuse(w, r, site.ErrNoSuchPage)
		return
	}
	id := r.URL.Query().Get(wire.TunnelRequest)
	if err := t.CheckTunnel(r.Context(), r.URL.Query().Get(wire.TunnelProvisioner), id); err != nil {
		a.refuse(w, r, err)
		return
	}
	s, err := wire.AcceptStream(w, r)
	if err == nil && !t.AnswerTunnel(id, s) {
		_ = s.Close()
	}
}
