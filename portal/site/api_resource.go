package site

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"muster/app"
	"muster/app/resource"
)

// Resourcing is a power that a Muster may have: to keep archives and files for automators and providers. See app for what each does.
type Resourcing interface {
	ResourceTypes(ctx context.Context, a app.Actor) ([]resource.ResourceTypes, error)
	Resources(ctx context.Context, a app.Actor, f resource.ResourceFilter) ([]resource.ResourceInfo, bool, error)
	Resource(ctx context.Context, a app.Actor, id resource.ResourceID) (resource.ResourceInfo, error)
	ResourceFiles(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) ([]resource.ResourceFile, error)
	DiffResource(ctx context.Context, a app.Actor, id resource.ResourceID, from, to int64) (resource.ResourceDiff, error)
	OpenResource(ctx context.Context, a app.Actor, id resource.ResourceID, number, offset int64) (resource.ResourceInfo, resource.ResourceVersion, io.ReadCloser, error)
	PushResource(ctx context.Context, a app.Actor, p resource.ResourcePush, r io.Reader) (resource.ResourceVersion, error)
	ImportResource(ctx context.Context, a app.Actor, p resource.ResourcePush) (resource.ResourceVersion, error)
	StageResource(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) (resource.ResourceInfo, error)
	RecallResource(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) (resource.ResourceInfo, error)
	SyncResources(ctx context.Context, a app.Actor, f resource.ResourceFilter, dry bool) (resource.ResourceSync, error)
	DeleteResource(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) error
}

func (p *Site) Resourcing() Resourcing {
	r, _ := p.Muster.(Resourcing)
	return r
}

const (
	// uploadTime is how long an upload may take, uploadPause how long it may say nothing.
	UploadTime  = 6 * time.Hour
	UploadPause = time.Minute
)

var ErrGone = errors.New("nobody reads it any more")

// SendContent copies with a deadline for each piece, so that a reader that stands still is let go of. The end is said only when all of it
// was found to be right.
func SendContent(w http.ResponseWriter, r io.Reader) error {
	rc := http.NewResponseController(w)
	buf := make([]byte, 128<<10)
	for {
		n, err := io.ReadFull(r, buf)
		ended := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !ended {
			return err
		}
		if n > 0 {
			_ = rc.SetWriteDeadline(time.Now().Add(UploadPause))
			if _, err := w.Write(buf[:n]); err != nil {
				return errors.Join(ErrGone, err)
			}
		}
		if ended {
			return nil
		}
	}
}
