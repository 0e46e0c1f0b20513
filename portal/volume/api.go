package volume

import (
	"context"
	"time"

	"muster/app"
	"muster/app/template"
	"muster/app/volume"
	"muster/portal/site"
)

// VolumeID names a volume.
type VolumeID struct {
	ID string `path:"volume" maxLength:"64" doc:"ID of the volume, such as vol-…"`
}

type listInput struct {
	Cluster string `query:"cluster" maxLength:"128" doc:"Only volumes that this cluster has, or left"`
	Kept    bool   `query:"kept" doc:"Only volumes that belong to no cluster"`
	Deleted bool   `query:"deleted" doc:"Include deleted volumes"`
}

type extendInput struct {
	VolumeID
	Body struct {
		KeepFor string `json:"keep_for" maxLength:"20" doc:"How long to keep the volume from now on, such as 60d, or forever"`
	}
}

type volumeList struct {
	Volumes []volume.Volume `json:"volumes"`
}

func (p *Service) apiList(ctx context.Context, in *listInput) (*site.Body[volumeList], error) {
	list, err := p.Volumes.Volumes(ctx, site.Caller(ctx), volume.Filter{Cluster: in.Cluster, Kept: in.Kept, Gone: in.Deleted})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[volumeList]{Body: volumeList{site.OrEmpty(list)}}, nil
}

func (p *Service) apiShow(ctx context.Context, in *VolumeID) (*site.Body[volume.Volume], error) {
	return site.Answered[volume.Volume](ctx, p.Site)(p.Volumes.Volume(ctx, site.Caller(ctx), in.ID))
}

func (p *Service) apiExtend(ctx context.Context, in *extendInput) (*site.Body[volume.Volume], error) {
	d, err := keepFor(in.Body.KeepFor)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return site.Answered[volume.Volume](ctx, p.Site)(p.Volumes.ExtendVolume(ctx, site.Caller(ctx), in.ID, d))
}

func (p *Service) apiDelete(ctx context.Context, in *VolumeID) (*site.Body[volume.Volume], error) {
	return site.Answered[volume.Volume](ctx, p.Site)(p.Volumes.DeleteVolume(ctx, site.Caller(ctx), in.ID))
}

func (p *Service) apiForget(ctx context.Context, in *VolumeID) (*site.Body[volume.Volume], error) {
	return site.Answered[volume.Volume](ctx, p.Site)(p.Volumes.ForgetVolume(ctx, site.Caller(ctx), in.ID))
}

// keepFor reads how long a volume is to be kept; 0 is forever.
func keepFor(text string) (time.Duration, error) {
	if text == "forever" {
		return 0, nil
	}
	d, err := template.ParseLength(text)
	if err != nil || d <= 0 {
		return 0, &app.Error{Code: app.EInvalid, Field: "keep_for", Message: "That isn't a duration.", Hint: "Use a number with a unit, such as 60d, or forever."}
	}
	return d, nil
}
