package site

import (
	"context"
	"io"

	"muster/app"
	"muster/app/resource"
)

// Resources are archives and files for automators and providers.
type Resources interface {
	ResourceTypes(ctx context.Context, a app.Actor) ([]resource.Types, error)
	Resources(ctx context.Context, a app.Actor, f resource.Filter) ([]resource.Info, bool, error)
	Resource(ctx context.Context, a app.Actor, id resource.ID) (resource.Info, error)
	ResourceFiles(ctx context.Context, a app.Actor, id resource.ID, number int64) ([]resource.File, error)
	DiffResource(ctx context.Context, a app.Actor, id resource.ID, from, to int64) (resource.Diff, error)
	OpenResource(ctx context.Context, a app.Actor, id resource.ID, number, offset int64) (resource.Info, resource.Version, io.ReadCloser, error)
}

// Versions manages versions of resources.
type Versions interface {
	PushResource(ctx context.Context, a app.Actor, p resource.Push, r io.Reader) (resource.Version, error)
	ImportResource(ctx context.Context, a app.Actor, p resource.Push) (resource.Version, error)
	StageResource(ctx context.Context, a app.Actor, id resource.ID, number int64) (resource.Info, error)
	RecallResource(ctx context.Context, a app.Actor, id resource.ID, number int64) (resource.Info, error)
	SyncResources(ctx context.Context, a app.Actor, f resource.Filter, dry bool) (resource.Sync, error)
	DeleteResource(ctx context.Context, a app.Actor, id resource.ID, number int64) error
}

// Secrets are a tenant's write-only values.
type Secrets interface {
	Secrets(ctx context.Context, a app.Actor) ([]app.Secret, error)
	SetSecret(ctx context.Context, a app.Actor, name string, value []byte) error
	DeleteSecret(ctx context.Context, a app.Actor, name string) error
}
