package app

import (
	"context"
	"io"
)

var (
	_ ResourceFetcher = (*App)(nil)
	_ ResourceFetcher = (*granted)(nil)
)

// maxHeldBlobs is how many contents of a tenant a provisioner tells of.
const maxHeldBlobs = 10_000

// FetchResource implements ResourceFetcher.
func (a *App) FetchResource(ctx context.Context, w WorkerID, f Fence, hash string, from int64) (io.ReadCloser, error) {
	step, cluster, _, err := a.Store.HeldStep(ctx, w, f)
	if err != nil {
		return nil, err
	}
	oc, err := a.configs.get(ctx, a, &ClaimedStep{Tenant: w.Tenant, Step: step, Cluster: cluster})
	if err != nil {
		return nil, err
	}
	action := step.Action
	if action == ActionCompare {
		action = a.compared(oc.definition.Services[step.Service])
	}
	if s := oc.definition.Services[step.Service]; s != nil && s.Actions[action] != nil {
		for _, r := range s.Actions[action].Resources {
			if r.Hash == hash && hash != "" {
				return a.openBlob(ctx, w.Tenant, hash, from)
			}
		}
	}
	return nil, Errorf(ENotFound, "The step %s needs no such content.", step.ID)
}

// HoldResources implements ResourceFetcher, for a worker of no provisioner.
func (a *App) HoldResources(ctx context.Context, w WorkerID, hashes []string) error {
	return a.holdBlobs(ctx, w.Tenant, w.Name, hashes)
}

func (a *App) holdBlobs(ctx context.Context, tenant, provisioner string, hashes []string) error {
	if len(hashes) > maxHeldBlobs {
		return Errorf(ETooLarge, "A message holds at most %d hashes, not %d.", maxHeldBlobs, len(hashes))
	}
	for _, h := range hashes {
		if !isHash(h) {
			return Errorf(EInvalid, "%.80q is not the hash of a content.", h)
		}
	}
	return a.Store.HoldBlobs(ctx, tenant, provisioner, hashes, a.Now())
}

// FetchResource implements ResourceFetcher.
func (g *granted) FetchResource(ctx context.Context, w WorkerID, f Fence, hash string, from int64) (io.ReadCloser, error) {
	if err := g.check(w); err != nil {
		return nil, err
	}
	return g.app.FetchResource(ctx, w, f, hash, from)
}

// HoldResources implements ResourceFetcher.
func (g *granted) HoldResources(ctx context.Context, w WorkerID, hashes []string) error {
	if err := g.check(w); err != nil {
		return err
	}
	return g.app.holdBlobs(ctx, w.Tenant, g.provisioner.Name, hashes)
}
