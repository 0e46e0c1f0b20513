package execution

import (
	"context"
	"io"

	"muster/app"
	"muster/app/operation"
	"muster/app/resource"
)

var (
	_ ResourceFetcher = (*Service)(nil)
	_ ResourceFetcher = (*granted)(nil)
)

// maxHeldBlobs is how many contents of a tenant a provisioner tells of.
const maxHeldBlobs = 10_000

func (a *Service) FetchResource(ctx context.Context, w app.WorkerID, f app.Fence, hash string, from int64) (io.ReadCloser, error) {
	step, cluster, _, err := a.Steps.HeldStep(ctx, w, f)
	if err != nil {
		return nil, err
	}
	oc, err := a.configs.get(ctx, a, &ClaimedStep{Tenant: w.Tenant, Step: step, Cluster: cluster})
	if err != nil {
		return nil, err
	}
	action := step.Action
	if action == app.ActionCompare {
		action = operation.Compared(a.DryRuns, oc.definition.Services[step.Service])
	}
	if s := oc.definition.Services[step.Service]; s != nil && s.Actions[action] != nil {
		for _, r := range s.Actions[action].Resources {
			if r.Hash == hash && hash != "" {
				return a.Resources.OpenBlob(ctx, w.Tenant, hash, from)
			}
		}
	}
	return nil, app.Errorf(app.ENotFound, "Step %s doesn't need this content.", step.ID)
}

// HoldResources implements ResourceFetcher, for a worker of no provisioner.
func (a *Service) HoldResources(ctx context.Context, w app.WorkerID, hashes []string) error {
	return a.holdBlobs(ctx, w.Tenant, w.Name, hashes)
}

func (a *Service) holdBlobs(ctx context.Context, tenant, provisioner string, hashes []string) error {
	if len(hashes) > maxHeldBlobs {
		return app.Errorf(app.ETooLarge, "A message can have at most %d hashes, not %d.", maxHeldBlobs, len(hashes))
	}
	for _, h := range hashes {
		if !resource.IsHash(h) {
			return app.Errorf(app.EInvalid, "%.80q isn't a valid content hash.", h)
		}
	}
	return a.Steps.HoldBlobs(ctx, tenant, provisioner, hashes, a.Now())
}

func (g *granted) FetchResource(ctx context.Context, w app.WorkerID, f app.Fence, hash string, from int64) (io.ReadCloser, error) {
	if err := g.check(w); err != nil {
		return nil, err
	}
	return g.app.FetchResource(ctx, w, f, hash, from)
}

func (g *granted) HoldResources(ctx context.Context, w app.WorkerID, hashes []string) error {
	if err := g.check(w); err != nil {
		return err
	}
	return g.app.holdBlobs(ctx, w.Tenant, g.provisioner.Name, hashes)
}
