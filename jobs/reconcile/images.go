package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/image"
)

// ImageStore keeps baked images.
type ImageStore interface {
	DoomedImages(ctx context.Context, limit int) ([]image.Image, error)
	ImageGone(ctx context.Context, id int64) error
	KeptImages(ctx context.Context) (map[string]bool, error)
}

// imagesAtOnce is how many images are deleted in one go.
const imagesAtOnce = 1000

// unknownImageAge is how old an image is that no one knows before it is deleted: it may be of a build that is yet to report it.
const unknownImageAge = time.Hour

// beginImages deletes, account by account, images that are not wanted any more.
func (r *Reconciler) beginImages(ctx context.Context) error {
	if r.Images == nil {
		return nil
	}
	doomed, err := r.Images.DoomedImages(ctx, imagesAtOnce)
	if err != nil {
		return err
	}
	perAccount(ctx, r, "Deleting baked images", reconcileGap, doomed, func(x image.Image) (tenant, provider string) { return x.Tenant, x.Provider },
		r.deleteImages)
	return nil
}

func (r *Reconciler) deleteImages(ctx context.Context, in inAccount, list []image.Image) error {
	var errs []error
	for _, i := range list {
		if i.Image == "" { // nothing was made of it
			errs = append(errs, r.Images.ImageGone(ctx, i.ID))
		}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(i image.Image) bool { return i.Image == "" })
	if len(list) == 0 {
		return errors.Join(errs...)
	}
	cloud, err := r.openFor(ctx, in) // one that is missing from the catalog may come back: until then, its images stay known
	if err != nil {
		return err
	}
	b, bakes := family.PowerOf[family.Baker](cloud)
	if !bakes {
		return app.Errorf(app.ETransient, "account %s can't delete images now", in)
	}
	for _, i := range list {
		if err := b.DeleteBaked(ctx, i.Image); err != nil {
			errs = append(errs, fmt.Errorf("image %s: %w", i.Image, err))
			continue
		}
		r.Log.Info("baked image deleted", "provider", in.name, "image", i.Image, "template", i.Template)
		errs = append(errs, r.Images.ImageGone(ctx, i.ID))
	}
	return errors.Join(errs...)
}

// sortImages finds the orphaned images: those of this installation that no row knows, since their builds failed after the provider made them.
func (p *pass) sortImages(ctx context.Context, cloud family.Provider) (orphans []fleet.Orphan, err error) {
	b, ok := family.PowerOf[family.Baker](cloud)
	if !ok || p.Images == nil || p.own != "" {
		return nil, nil
	}
	list, err := b.BakedImages(ctx, map[string]string{family.TagInstallation: p.Installation})
	if code := app.CodeOf(err); code == app.ECredentials || code == app.EInvalid { // as with volumes
		p.Log.Debug("images can't be listed", "provider", p.name, "error", err)
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	kept, err := p.Images.KeptImages(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range list {
		key := i.Tags[family.TagBake]
		if key == "" || kept[key] || i.Tags[family.TagInstallation] != p.Installation || i.CreatedAt.IsZero() || time.Since(i.CreatedAt) < unknownImageAge {
			continue
		}
		orphans = append(orphans, fleet.Orphan{ID: fleet.OrphanID(p.account.Provider, "image:"+i.ID), Provider: p.account.Provider, Machine: i.ID,
			Resource: fleet.ResourceImage, Tenant: i.Tags[family.TagTenant], Intent: key, Kind: fleet.OrphanUnknown, CreatedAt: i.CreatedAt})
	}
	return orphans, nil
}

// removeImage deletes an orphaned image, after one more look whether someone wants it.
func (p *pass) removeImage(ctx context.Context, cloud family.Provider, o fleet.Orphan) error {
	b, ok := family.PowerOf[family.Baker](cloud)
	if !ok {
		return nil
	}
	if kept, err := p.Images.KeptImages(ctx); err != nil || kept[o.Intent] {
		return err
	}
	if err := b.DeleteBaked(ctx, o.Machine); err != nil {
		return p.failedToRemove(ctx, o, err)
	}
	p.account.Deleted++
	p.account.Orphans--
	p.Log.Warn("orphaned image deleted", "provider", o.Provider, "image", o.Machine, "ordered by", o.Decided)
	return p.Orphans.OrphanDeleted(ctx, o.ID, time.Now(), "")
}
