package volume

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/template"
)

// SnapshotState is the state of a snapshot in one word.
type SnapshotState string

// The states of snapshots.
const (
	SnapshotCreating SnapshotState = "creating" // the reconciler has the provider make it
	SnapshotReady    SnapshotState = "ready"
	SnapshotDeleting SnapshotState = "deleting"
	SnapshotDeleted  SnapshotState = "deleted"
)

// Snapshot is a copy of a volume as it was at a moment. It outlives the volume.
type Snapshot struct {
	ID         string        `json:"id"`
	Tenant     string        `json:"-"`
	Provider   string        `json:"provider"`
	Volume     string        `json:"volume"` // that it was made of
	Of         string        `json:"of"`     // the provider's ID of that
	Name       string        `json:"name"`   // of the volume
	Cluster    string        `json:"cluster,omitempty"`
	Node       string        `json:"node,omitempty"`
	Owner      string        `json:"owner"`
	SizeGB     int           `json:"size_gb"`
	Filesystem string        `json:"filesystem"`
	External   string        `json:"provider_id,omitempty"`
	State      SnapshotState `json:"state"`
	Keep       int           `json:"keep"` // how many of the volume are kept once this one is ready
	CreatedAt  time.Time     `json:"created_at"`
	DeletedAt  time.Time     `json:"deleted_at,omitzero"`
	Scheduled  bool          `json:"scheduled,omitempty"` // made by its volume's schedule
	ExpiresAt  time.Time     `json:"expires_at,omitzero"` // of a scheduled one that is kept for some time
	Proof      string        `json:"proof,omitempty"`     // that it is gone
	Error      string        `json:"error,omitempty"`     // why it couldn't be created or deleted yet
	Price      float64       `json:"cost_per_hour"`       // 0: not known
	Currency   string        `json:"currency,omitempty"`
}

// How many snapshots of one volume are kept.
const (
	KeepSnapshots     = 7 // unless someone says otherwise
	MostKeepSnapshots = 100
)

const snapshotPrefix = "snap-"

// IsSnapshot reports whether an ID is that of a snapshot.
func IsSnapshot(id string) bool { return strings.HasPrefix(id, snapshotPrefix) }

// NewSnapshotID returns an ID that no snapshot has.
func NewSnapshotID(random string) string { return snapshotPrefix + strings.ToLower(random) }

// SnapshotFilter chooses snapshots.
type SnapshotFilter struct {
	Owner, Volume string // "" for all
	Gone          bool   // also deleted ones
}

// SnapshotStore keeps snapshots.
type SnapshotStore interface {
	// Snapshots returns a tenant's snapshots, the newest first.
	Snapshots(ctx context.Context, tenant string, f SnapshotFilter) ([]Snapshot, error)
	// Snapshot returns one; ENotFound where the tenant has no such snapshot.
	Snapshot(ctx context.Context, tenant, id string) (Snapshot, error)
	// CreateSnapshot writes down that a snapshot of a volume is wanted. EConflict where the volume doesn't exist at its
	// provider, or a snapshot of it is being made.
	CreateSnapshot(ctx context.Context, who app.Actor, volume string, keep int, now time.Time) (Snapshot, error)
	// SetSnapshots says when snapshots of a volume are made. EConflict where it is being deleted.
	SetSnapshots(ctx context.Context, who app.Actor, volume string, s template.Snapshots, now time.Time) (Volume, error)
	// DeleteSnapshot has the reconciler delete a snapshot. EConflict where a volume is being made of it.
	DeleteSnapshot(ctx context.Context, who app.Actor, id string, now time.Time) (Snapshot, error)
}

// SetSnapshots says when snapshots of a volume are made; the zero value: never.
func (a *Service) SetSnapshots(ctx context.Context, actor app.Actor, id string, s template.Snapshots) (Volume, error) {
	v, err := a.mine(ctx, actor, "SetSnapshots", id)
	if err != nil {
		return Volume{}, err
	}
	if err := s.Check(); err != nil {
		return Volume{}, err
	}
	if s.Every != "" {
		if err := a.checkCopies(ctx, actor, v); err != nil {
			return Volume{}, err
		}
	}
	return a.SnapshotStore.SetSnapshots(ctx, actor, id, s, a.Now())
}

// checkCopies refuses snapshots where the provider makes none.
func (a *Service) checkCopies(ctx context.Context, actor app.Actor, v Volume) error {
	c, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return err
	}
	spec := c.Providers[v.Provider]
	if a.MakesSnapshots == nil || spec != nil && a.MakesSnapshots(spec.Type) {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Reason: "no_snapshots",
		Message: fmt.Sprintf("Provider %s doesn't make snapshots of volumes.", v.Provider),
		Hint:    "The types of providers that do are listed in docs/volumes.md."}
}

// Snapshot returns one of the actor's snapshots.
func (a *Service) Snapshot(ctx context.Context, actor app.Actor, id string) (Snapshot, error) {
	if _, err := actor.Reach("Snapshot"); err != nil {
		return Snapshot{}, err
	}
	s, err := a.SnapshotStore.Snapshot(ctx, actor.Tenant, id)
	if err == nil {
		err = actor.MayTouch("Snapshot", s.Owner, "snapshot "+s.ID)
	}
	return s, err
}

// Snapshots lists the actor's snapshots; admins see those of everyone.
func (a *Service) Snapshots(ctx context.Context, actor app.Actor, f SnapshotFilter) ([]Snapshot, error) {
	reach, err := actor.Reach("Snapshots")
	if err != nil {
		return nil, err
	}
	if reach != app.All {
		f.Owner = actor.User
	}
	list, err := a.SnapshotStore.Snapshots(ctx, actor.Tenant, f)
	if err != nil || len(list) == 0 {
		return list, err
	}
	currency, err := a.Catalogs.CurrencyOf(ctx, actor.Tenant)
	for i := range list {
		list[i].Currency = currency
	}
	return list, err
}

// CreateSnapshot copies a volume as it is. Keep is how many of its snapshots are kept then, the newest ones; 0 is KeepSnapshots.
func (a *Service) CreateSnapshot(ctx context.Context, actor app.Actor, id string, keep int) (Snapshot, error) {
	v, err := a.mine(ctx, actor, "CreateSnapshot", id)
	if err != nil {
		return Snapshot{}, err
	}
	if keep == 0 {
		keep = KeepSnapshots
	}
	if keep < 1 || keep > MostKeepSnapshots {
		return Snapshot{}, &app.Error{Code: app.EInvalid, Field: "keep", Message: fmt.Sprintf("A volume can't keep %d snapshots.", keep),
			Hint: fmt.Sprintf("Use 1 to %d.", MostKeepSnapshots)}
	}
	if err := a.checkCopies(ctx, actor, v); err != nil {
		return Snapshot{}, err
	}
	return a.SnapshotStore.CreateSnapshot(ctx, actor, id, keep, a.Now())
}

// DeleteSnapshot deletes a snapshot. Volumes that were made of it stay.
func (a *Service) DeleteSnapshot(ctx context.Context, actor app.Actor, id string) (Snapshot, error) {
	if _, err := actor.Reach("DeleteSnapshot"); err != nil {
		return Snapshot{}, err
	}
	s, err := a.SnapshotStore.Snapshot(ctx, actor.Tenant, id)
	if err != nil {
		return s, err
	}
	if err := actor.MayTouch("DeleteSnapshot", s.Owner, "snapshot "+s.ID); err != nil {
		return Snapshot{}, err
	}
	if s.State == SnapshotDeleted {
		return s, nil
	}
	if s.Cluster != "" {
		if err := a.Locks.CheckLocks(ctx, actor, s.Cluster, s.Node); err != nil {
			return Snapshot{}, err
		}
	}
	return a.SnapshotStore.DeleteSnapshot(ctx, actor, id, a.Now())
}

// checkSnapshot refuses a snapshot that the actor may not use, of another provider, or of a larger volume than is planned.
func checkSnapshot(ctx context.Context, s UseStore, actor app.Actor, provider string, p Planned) error {
	x, err := s.Snapshot(ctx, actor.Tenant, p.Reuses)
	if err != nil {
		return err
	}
	if err := actor.MayTouch("UseVolume", x.Owner, "snapshot "+x.ID); err != nil {
		return err
	}
	l, err := s.LockOn(ctx, actor.Tenant, x.Cluster, x.Node)
	if err == nil {
		err = app.Cluster{Name: x.Cluster, Lock: l}.CheckLock(actor)
	}
	if err != nil {
		return err
	}
	switch {
	case x.State != SnapshotReady:
		e := errUse("Snapshot %s is %s, so no cluster can use it.", x.ID, x.State)
		e.Hint = "Choose a snapshot that is ready: run muster volume snapshots."
		return e
	case x.Provider != provider:
		e := errUse("Snapshot %s is at provider %s, and the cluster would be at %s.", x.ID, x.Provider, provider)
		e.Hint = "Choose provider " + x.Provider + ", or another snapshot."
		return e
	case x.SizeGB > p.SizeGB:
		e := errUse("Snapshot %s is of a volume of %d GB, and %s has only %d GB.", x.ID, x.SizeGB, p.Key(), p.SizeGB)
		e.Hint = fmt.Sprintf("Set volumes.%s.size_gb to at least %d.", p.Name, x.SizeGB)
		return e
	}
	return nil
}

// UseStore finds what requests name.
type UseStore interface {
	Volume(ctx context.Context, tenant, id string) (Volume, error)
	Snapshot(ctx context.Context, tenant, id string) (Snapshot, error)
	// LockOn is the lock of a cluster, or else of its node; nil where neither is locked, or exists.
	LockOn(ctx context.Context, tenant, cluster, node string) (*app.Lock, error)
}
