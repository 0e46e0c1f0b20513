package fleet

import (
	"context"
	"io"

	"muster/app"
)

// Metrics writes all that is measured, in the text format of Prometheus, to whoever looks after the installation; ENotFound where
// this server measures nothing.
func (a *Installation) Metrics(ctx context.Context, actor app.Actor, to io.Writer) error {
	if err := actor.Authorize("Metrics"); err != nil {
		return err
	}
	if a.Expose == nil {
		return app.Errorf(app.ENotFound, "This server doesn't collect metrics.")
	}
	return a.Expose(ctx, to)
}
