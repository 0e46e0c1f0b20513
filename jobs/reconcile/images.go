package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/app/family"
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
	var cloud family.Provider
	if r.accounts()[in.name] != nil { // else its account is gone, and no one can reach them
		var err error
		if cloud, err = r.openFor(ctx, in); err != nil {
			return err
		}
	}
	b, bakes := family.PowerOf[family.Baker](cloud)
	if cloud != nil && !bakes {
		return app.Errorf(app.ETransient, "account %s can't delete images now", in)
	}
	var errs []error
	for _, i := range list {
		if bakes && i.Image != "" {
			if err := b.DeleteBaked(ctx, i.Image); err != nil {
				errs = append(errs, fmt.Errorf("image %s: %w", i.Image, err))
				continue
			}
			r.Log.Info("baked image deleted", "provider", in.name, "image", i.Image, "template", i.Template)
		}
		errs = append(errs, r.Images.ImageGone(ctx, i.ID))
	}
	return errors.Join(errs...)
}

// images deletes images of this installation that it doesn't know: their builds have failed after the provider made them.
func (p *pass) images(ctx context.Context, cloud family.Provider) error {
	b, ok := family.PowerOf[family.Baker](cloud)
	if !ok || p.Images == nil {
		return nil
	}
	list, err := b.BakedImages(ctx, map[string]string{family.TagInstallation: p.Installation})
	if err != nil || len(list) == 0 {
		return err
	}
	kept, err := p.Images.KeptImages(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, i := range list {
		key := i.Tags[family.TagBake]
		if key == "" || kept[key] || i.Tags[family.TagInstallation] != p.Installation || i.CreatedAt.IsZero() || time.Since(i.CreatedAt) < unknownImageAge {
			continue
		}
		if err := b.DeleteBaked(ctx, i.ID); err != nil {
			errs = append(errs, fmt.Errorf("image %s: %w", i.ID, err))
			continue
		}
		p.Log.Warn("unknown baked image deleted", "provider", p.account.Provider, "image", i.ID)
	}
	return errors.Join(errs...)
}
