package fleet

import (
	"context"
	"net/http"
	"strings"

	"muster/app"
	"muster/app/execution"
	"muster/portal/site"
	"muster/portal/wire"
)

// resource streams a resource to a worker with a step that needs it. It checks the token before it reads the body.
func (a *WorkerAPI) resource(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		a.refuse(w, r, &app.Error{Code: app.EUnauthorized, Message: "A provisioner or worker token is required."})
		return
	}
	// The lookup has a time limit; the transfer takes as long as it makes progress.
	asking, cancel := context.WithTimeout(r.Context(), site.RequestTime)
	defer cancel()
	c, err := a.tokens.CoordinatorOfToken(asking, token)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	var m wire.FetchMessage
	if err := readMessage(w, r, messageLimit, &m); err != nil {
		a.refuse(w, r, err)
		return
	}
	from, ok := c.(execution.ResourceFetcher)
	if !ok {
		a.refuse(w, r, site.ErrNoSuchPage)
		return
	}
	open, stop := a.whileOpen(r.Context())
	defer stop()
	content, err := from.FetchResource(open, m.Worker, m.Fence, m.Hash, m.From)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	defer content.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	if err := site.SendContent(w, content); err != nil {
		if r.Context().Err() == nil && open.Err() == nil {
			a.log.WarnContext(r.Context(), "sending a resource to a worker broke off", "hash", m.Hash, "error", err)
		}
		panic(http.ErrAbortHandler) // the worker asks for the rest
	}
}

func workerHolds(ctx context.Context, c execution.Coordinator, m wire.HoldMessage) (wire.Empty, error) {
	to, ok := c.(execution.ResourceFetcher)
	if !ok {
		return wire.Empty{}, site.ErrNoSuchPage
	}
	return wire.Empty{}, to.HoldResources(ctx, m.Worker, m.Hashes)
}
