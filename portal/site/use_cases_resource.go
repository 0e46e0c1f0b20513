package site

import (
	"context"
	"io"

	"muster/app"
	"muster/app/resource"
)

// Resources are archives and files for automators and providers.
type Resources interface {
	ResourceTypes(ctx context.Context, a app.Actor) ([]resource.ResourceTypes, error)
	Resources(ctx context.Context, a app.Actor, f resource.ResourceFilter) ([]resource.ResourceInfo, bool, error)
	Resource(ctx context.Context, a app.Actor, id resource.ResourceID) (resource.ResourceInfo, error)
	ResourceFiles(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) ([]resource.ResourceFile, error)
	DiffResource(ctx context.Context, a app.Actor, id resource.ResourceID, from, to int64) (resource.ResourceDiff, error)
	OpenResource(ctx context.Context, a app.Actor, id resource.ResourceID, number, offset int64) (resource.ResourceInfo, resource.ResourceVersion, io.ReadCloser, error)
}

// Versions manages versions of resources.
type Versions interface {
	PushResource(ctx context.Context, a app.Actor, p resource.ResourcePush, r io.Reader) (resource.ResourceVersion, error)
	ImportResource(ctx context.Context, a app.Actor, p resource.ResourcePush) (resource.ResourceVersion, error)
	StageResource(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) (resource.ResourceInfo, error)
	RecallResource(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) (resource.ResourceInfo, error)
	SyncResources(ctx context.Context, a app.Actor, f resource.ResourceFilter, dry bool) (resource.ResourceSync, error)
	DeleteResource(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) error
}

// Secrets are a tenant's write-only values.
type Secrets interface {
	Secrets(ctx context.Context, a app.Actor) ([]app.Secret, error)
	SetSecret(ctx context.Context, a app.Actor, name string, value []byte) error
	DeleteSecret(ctx context.Context, a app.Actor, name string) error
}
