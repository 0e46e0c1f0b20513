package resource

import (
	"context"
	"time"
)

// SweptAfter is how long a content is kept that nothing needs: between two looks at it there is at least that much time. It is longer
// than any upload takes.
const SweptAfter = 24 * time.Hour

const (
	sweepAtOnce = 100
	strayBatch  = 500
)

// SweepResources removes contents that no one refers to: no version, and no cluster that is not gone. What it sees so, it must have seen
// so before; a content that is being uploaded counts as seen again. Beside that it removes what lies in the store
// under the installation's name and is known to no one. It returns how many contents it removed.
func (a *Service) SweepResources(ctx context.Context, after time.Duration) (removed int, err error) {
	if a.Blobs == nil {
		return 0, nil
	}
	for {
		now := a.Now()
		going, err := a.Contents.IdleBlobs(ctx, now.Add(-after), now, sweepAtOnce)
		if err != nil {
			return removed, err
		}
		for _, b := range going {
			if err := a.Blobs.Delete(ctx, b.Name); err != nil {
				return removed, err
			}
			if err := a.fault("deleted"); err != nil {
				return removed, err
			}
			if err := a.Contents.BlobGone(ctx, b); err != nil {
				return removed, err
			}
			removed++
		}
		if len(going) < sweepAtOnce {
			break
		}
	}
	strays, err := a.sweepStrays(ctx, after)
	return removed + strays, err
}

// sweepStrays removes what is known to no one.
func (a *Service) sweepStrays(ctx context.Context, after time.Duration) (removed int, err error) {
	installation, err := a.Contents.Installation(ctx)
	if err != nil {
		return 0, err
	}
	now := a.Now()
	var names []string
	look := func() error {
		strays, err := a.Contents.StrayBlobs(ctx, names, now.Add(-after), now)
		if err != nil {
			return err
		}
		for _, name := range strays {
			if err := a.Blobs.Delete(ctx, name); err != nil {
				return err
			}
			removed++
		}
		names = names[:0]
		return nil
	}
	err = a.Blobs.List(ctx, BlobPrefix(installation), func(name string, at time.Time) error {
		if names = append(names, name); len(names) < strayBatch {
			return nil
		}
		return look()
	})
	if err == nil && len(names) > 0 {
		err = look()
	}
	return removed, err
}

// BlobPrefix begins the names of all contents of an installation, so that several may share a place.
func BlobPrefix(installation string) string { return installation + "/" }
