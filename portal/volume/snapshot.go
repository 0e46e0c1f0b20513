package volume

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"muster/app"
	"muster/app/volume"
	"muster/portal/site"
)

func (p *Service) snapshot(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	keep, err := strconv.Atoi(r.FormValue("keep"))
	if err != nil {
		err = &app.Error{Code: app.EInvalid, Field: "keep", Message: "Choose how many snapshots of the volume to keep.", Hint: "Use 1 to 100."}
	} else {
		_, err = p.Volumes.CreateSnapshot(r.Context(), a, chi.URLParam(r, "volume"), keep)
	}
	switch app.CodeOf(err) {
	case "":
		http.Redirect(w, r, "/volumes", http.StatusSeeOther)
		return nil
	case app.EInvalid:
		return p.show(w, r, a, http.StatusUnprocessableEntity, app.AsError(err))
	case app.EConflict:
		return p.show(w, r, a, http.StatusConflict, app.AsError(err))
	}
	return err
}

func (p *Service) deleteSnapshot(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	_, err := p.Volumes.DeleteSnapshot(r.Context(), a, chi.URLParam(r, "snapshot"))
	if app.CodeOf(err) == app.EConflict {
		return p.show(w, r, a, http.StatusConflict, app.AsError(err))
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/volumes", http.StatusSeeOther)
	return nil
}

// SnapshotID names a snapshot.
type SnapshotID struct {
	ID string `path:"snapshot" maxLength:"64" doc:"ID of the snapshot, such as snap-…"`
}

type snapshotsInput struct {
	Volume  string `query:"volume" maxLength:"64" doc:"Only snapshots of this volume"`
	Deleted bool   `query:"deleted" doc:"Include deleted snapshots"`
}

type snapshotInput struct {
	VolumeID
	Body struct {
		Keep int `json:"keep,omitempty" minimum:"1" maximum:"100" doc:"How many snapshots of the volume to keep, the newest ones; default: 7"`
	}
}

type snapshotList struct {
	Snapshots []volume.Snapshot `json:"snapshots"`
}

func (p *Service) apiSnapshots(ctx context.Context, in *snapshotsInput) (*site.Body[snapshotList], error) {
	list, err := p.Volumes.Snapshots(ctx, site.Caller(ctx), volume.SnapshotFilter{Volume: in.Volume, Gone: in.Deleted})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[snapshotList]{Body: snapshotList{site.OrEmpty(list)}}, nil
}

func (p *Service) apiSnapshot(ctx context.Context, in *snapshotInput) (*site.Body[volume.Snapshot], error) {
	return site.Answered[volume.Snapshot](ctx, p.Site)(p.Volumes.CreateSnapshot(ctx, site.Caller(ctx), in.ID, in.Body.Keep))
}

func (p *Service) apiDeleteSnapshot(ctx context.Context, in *SnapshotID) (*site.Body[volume.Snapshot], error) {
	return site.Answered[volume.Snapshot](ctx, p.Site)(p.Volumes.DeleteSnapshot(ctx, site.Caller(ctx), in.ID))
}
