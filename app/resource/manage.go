package resource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"muster/app"
)

// Resources returns a page of the tenant's resources, and reports whether there are more.
func (a *Service) Resources(ctx context.Context, actor app.Actor, f Filter) (list []Info, more bool, err error) {
	if err := actor.Authorize("Resources"); err != nil {
		return nil, false, err
	}
	if f.Limit < 0 || f.Limit > MaxResourcePage {
		return nil, false, &app.Error{Code: app.EInvalid, Field: "limit", Message: fmt.Sprintf("Limit must be from 1 to %d, not %d.", MaxResourcePage, f.Limit)}
	}
	if f.After != "" {
		if _, err := ParseResourceID(f.After); err != nil {
			return nil, false, &app.Error{Code: app.EInvalid, Field: "after", Message: "Invalid page token."}
		}
	}
	if f.Limit == 0 {
		f.Limit = MaxResourcePage
	}
	limit := f.Limit
	f.Limit++
	if list, err = a.Store.ResourceInfos(ctx, actor.Tenant, f); err != nil {
		return nil, false, err
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// Resource returns one with its versions and where they are; ENotFound where the tenant has none of the name.
func (a *Service) Resource(ctx context.Context, actor app.Actor, id ID) (Info, error) {
	if err := actor.Authorize("Resource"); err != nil {
		return Info{}, err
	}
	return a.Store.ResourceInfo(ctx, actor.Tenant, id)
}

// StageResource marks a version to be in use from the next sync on, instead of the one that is.
func (a *Service) StageResource(ctx context.Context, actor app.Actor, id ID, number int64) (Info, error) {
	if err := actor.Authorize("StageResource"); err != nil {
		return Info{}, err
	}
	if err := a.Store.StageResource(ctx, actor, id, number, a.Now()); err != nil {
		return Info{}, err
	}
	return a.Store.ResourceInfo(ctx, actor.Tenant, id)
}

// RecallResource marks a version to go out of use with the next sync. Clusters keep what they were made with.
func (a *Service) RecallResource(ctx context.Context, actor app.Actor, id ID, number int64) (Info, error) {
	if err := actor.Authorize("RecallResource"); err != nil {
		return Info{}, err
	}
	if err := a.Store.RecallResource(ctx, actor, id, number, a.Now()); err != nil {
		return Info{}, err
	}
	return a.Store.ResourceInfo(ctx, actor.Tenant, id)
}

// SyncResources makes what is staged active and takes what is recalled out of use, all at once. Plans that are made from then on
// have the new versions; clusters that stand take them over when they are upgraded. With dry it only tells.
func (a *Service) SyncResources(ctx context.Context, actor app.Actor, f Filter, dry bool) (Sync, error) {
	if err := actor.Authorize("SyncResources"); err != nil {
		return Sync{}, err
	}
	return a.Store.SyncResources(ctx, actor, f, dry, a.Now())
}

// DeleteResource deletes a version that is not in use. Its content is kept for as long as clusters have it.
func (a *Service) DeleteResource(ctx context.Context, actor app.Actor, id ID, number int64) error {
	if err := actor.Authorize("DeleteResource"); err != nil {
		return err
	}
	return a.Store.DeleteResourceVersion(ctx, actor, id, number, a.Now())
}

// versionOf finds a version whose content is there.
func (a *Service) versionOf(ctx context.Context, tenant string, id ID, number int64) (Info, Version, error) {
	r, err := a.Store.ResourceInfo(ctx, tenant, id)
	if err != nil {
		return r, Version{}, err
	}
	if number == 0 {
		number = r.Active
	}
	if i := slices.IndexFunc(r.Versions, func(v Version) bool { return v.Number == number }); i >= 0 && r.Versions[i].DeletedAt.IsZero() {
		return r, r.Versions[i], nil
	}
	if number == 0 {
		return r, Version{}, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("No version of %s is in use.", id), Hint: "Specify a version."}
	}
	return r, Version{}, NoResourceVersion(id, number)
}

// NoResourceVersion says that there is no such version.
func NoResourceVersion(id ID, number int64) *app.Error {
	return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("%s has no version %d.", id, number), Hint: "Run muster resource show " + id.String() + "."}
}

// ResourceFiles tells what is in a version; number 0 is the active one.
func (a *Service) ResourceFiles(ctx context.Context, actor app.Actor, id ID, number int64) ([]File, error) {
	if err := actor.Authorize("ResourceFiles"); err != nil {
		return nil, err
	}
	_, v, err := a.versionOf(ctx, actor.Tenant, id, number)
	if err != nil {
		return nil, err
	}
	return a.Contents.BlobFiles(ctx, actor.Tenant, v.Hash)
}

// mostResourceChanges is how many changes a diff shows.
const mostResourceChanges = 1000

// DiffResource tells how two versions differ, file by file.
func (a *Service) DiffResource(ctx context.Context, actor app.Actor, id ID, from, to int64) (Diff, error) {
	if err := actor.Authorize("DiffResource"); err != nil {
		return Diff{}, err
	}
	var sides [2]map[string]File
	d := Diff{Changes: []Change{}}
	for i, number := range []int64{from, to} {
		_, v, err := a.versionOf(ctx, actor.Tenant, id, number)
		if err != nil {
			return d, err
		}
		files, err := a.Contents.BlobFiles(ctx, actor.Tenant, v.Hash)
		if err != nil {
			return d, err
		}
		sides[i] = map[string]File{}
		for _, f := range files {
			sides[i][f.Path] = f
		}
		if i == 0 {
			d.From = v.Number
		} else {
			d.To = v.Number
		}
	}
	for p, was := range sides[0] {
		is, both := sides[1][p]
		switch {
		case !both:
			d.Changes = append(d.Changes, Change{Path: p, Before: &was})
		case was != is:
			d.Changes = append(d.Changes, Change{Path: p, Before: &was, After: &is})
		default:
			d.Same++
		}
	}
	for p, is := range sides[1] {
		if _, both := sides[0][p]; !both {
			d.Changes = append(d.Changes, Change{Path: p, After: &is})
		}
	}
	slices.SortFunc(d.Changes, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	if n := len(d.Changes); n > mostResourceChanges {
		d.Changes, d.More = d.Changes[:mostResourceChanges], n-mostResourceChanges
	}
	return d, nil
}

// OpenResource returns the content of a version from an offset on; number 0 is the active one. Close it. Reading it from its beginning
// to its end finds out whether it is what was pushed: the last read fails where it is not.
func (a *Service) OpenResource(ctx context.Context, actor app.Actor, id ID, number, offset int64) (Info, Version, io.ReadCloser, error) {
	if err := actor.Authorize("OpenResource"); err != nil {
		return Info{}, Version{}, nil, err
	}
	r, v, err := a.versionOf(ctx, actor.Tenant, id, number)
	if err != nil {
		return r, v, nil, err
	}
	content, err := a.OpenBlob(ctx, actor.Tenant, v.Hash, offset)
	return r, v, content, err
}

// OpenBlob opens a content of a tenant.
func (a *Service) OpenBlob(ctx context.Context, tenant, hash string, offset int64) (io.ReadCloser, error) {
	if a.Blobs == nil {
		return nil, errNoBlobs
	}
	name, size, err := a.Contents.BlobName(ctx, tenant, hash)
	if err != nil {
		return nil, err
	}
	if offset < 0 || offset > size {
		return nil, &app.Error{Code: app.EInvalid, Field: "from", Message: fmt.Sprintf("The content has %d bytes; the offset %d is past its end.", size, offset)}
	}
	content, err := a.Blobs.Open(ctx, name, offset)
	if app.CodeOf(err) == app.ENotFound {
		return nil, &app.Error{Code: app.EInternal, Message: "Content " + hash + " is missing from the blob store.", Hint: "Push the same content again to restore it.", Err: err}
	}
	if err != nil || offset > 0 {
		return content, err
	}
	return &checkedContent{ReadCloser: content, want: hash, sum: sha256.New()}, nil
}

// checkedContent fails at its end where what was read is not what was put there.
type checkedContent struct {
	io.ReadCloser
	want string
	sum  hash.Hash
}

func (c *checkedContent) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	_, _ = c.sum.Write(b[:n])
	if err == io.EOF && hex.EncodeToString(c.sum.Sum(nil)) != c.want {
		return n, app.Errorf(app.EInternal, "content %s was altered in the blob store", c.want)
	}
	return n, err
}
