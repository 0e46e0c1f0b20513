package resource

import (
	"context"
	"time"

	"muster/app"
)

// ContentStore knows which contents there are; they themselves are elsewhere, see BlobStore.
type ContentStore interface {
	// AnnounceBlob says that a content is about to be kept, and returns the name that it is to have. EQuota where the tenant's contents would be more than
	// most bytes together; 0 is no limit. For a while from now on
	// the content is not taken for one that no one needs.
	AnnounceBlob(ctx context.Context, tenant string, b Blob, most int64, at time.Time) (name string, err error)
	// BlobFiles returns what is in a content, or ENotFound.
	BlobFiles(ctx context.Context, tenant, hash string) ([]File, error)
	// BlobGone forgets a content that was removed.
	BlobGone(ctx context.Context, b GoingBlob) error
	// BlobName returns where a content of the tenant is kept, or ENotFound.
	BlobName(ctx context.Context, tenant, hash string) (name string, size int64, err error)
	// BlobsOf counts the contents of a tenant, and their bytes.
	BlobsOf(ctx context.Context, tenant string) (n int, size int64, err error)
	// IdleBlobs looks for contents that nothing needs. What it comes across for the second time, and for the first time before
	// since, is marked to go and given; nothing of it is found any more. At most limit of them.
	IdleBlobs(ctx context.Context, since, now time.Time, limit int) ([]GoingBlob, error)
	Installation(ctx context.Context) (string, error)
	// StrayBlobs tells which names belong to no content that is known, at two looks of which the first was before since.
	StrayBlobs(ctx context.Context, names []string, since, now time.Time) ([]string, error)
}

// ResourceStore keeps what is known of resources. Contents are elsewhere, see BlobStore: a content is announced before it is
// kept there, and a version written after, so that whatever dies in between leaves no version without a content.
type ResourceStore interface {
	// AddResourceVersion writes a version whose content is kept under that name. Where the newest version has the same content,
	// that one is given and nothing is added. ETransient where the content was taken away meanwhile.
	AddResourceVersion(ctx context.Context, who app.Actor, p Push, b Blob, name string, at time.Time) (v Version, added bool, err error)
	// DeleteResourceVersion marks a version as deleted; EConflict where it is in use or about to be. Its content goes when no cluster
	// may need it any more.
	DeleteResourceVersion(ctx context.Context, who app.Actor, id ID, number int64, at time.Time) error
	// PinResources finds what references to resources of automators mean now, in the same order.
	PinResources(ctx context.Context, tenant string, refs []AutomatorRef) ([]PinnedResource, error)
	RecallResource(ctx context.Context, who app.Actor, id ID, number int64, at time.Time) error
	// Info returns one with its versions, or ENotFound.
	ResourceInfo(ctx context.Context, tenant string, id ID) (Info, error)
	// ResourceInfos returns those that a filter chooses, by family, member, type and name, without versions; at most f.Limit.
	ResourceInfos(ctx context.Context, tenant string, f Filter) ([]Info, error)
	SecretValues(ctx context.Context, tenant string, names []string, at time.Time) (map[string]string, error)
	// StageResource marks the version to be in use from the next sync on, and no other of the resource; RecallResource takes the
	// mark away. What is already so changes nothing.
	StageResource(ctx context.Context, who app.Actor, id ID, number int64, at time.Time) error
	// SyncResources puts all that is staged into use and takes all that is recalled out of it, in one transaction; with dry it
	// only tells.
	SyncResources(ctx context.Context, who app.Actor, f Filter, dry bool, at time.Time) (Sync, error)
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Contents ContentStore
	Store    ResourceStore
	Now      func() time.Time
	// Blobs keeps the contents of resources; nil: none are taken. ResourceKinds are what members of families declare.
	Blobs BlobStore
	// Faults is for tests: it may fail between two steps that are not one transaction. Nil: never.
	Faults         func(where string) error
	ResourceKinds  []Types
	ResourceLimits Limits
}

// Service keeps the archives and files that automators use.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
