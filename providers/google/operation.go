package google

import (
	"context"

	"muster/app"
	"muster/providers/google/internal/gcp"
)

// await waits until an operation has ended, and returns its error: that there is no room or that a quota is reached is reported here, and not in the
// answer to the call that began it.
func (p *Provider) await(ctx context.Context, project string, op *gcp.Operation) error {
	for try := 0; op.Status != "DONE"; try++ {
		if try > 0 { // each call waits by itself for up to two minutes, but need not
			if err := pause(ctx, p.pauses.operation); err != nil {
				return err
			}
		}
		var next *gcp.Operation
		var err error
		switch {
		case op.Zone != "":
			next, err = p.api.WaitZone(ctx, project, base(op.Zone), op.Name)
		case op.Region != "":
			next, err = p.api.WaitRegion(ctx, project, base(op.Region), op.Name)
		default:
			next, err = p.api.WaitGlobal(ctx, project, op.Name)
		}
		if err != nil {
			err = coded(err)
			if app.CodeOf(err) == app.ENotFound { // it says nothing of what was operated on
				return app.Errorf(app.ETransient, "operation %s no longer exists: %w", op.Name, err)
			}
			return err
		}
		op = next
	}
	if op.Error == nil || len(op.Error.Errors) == 0 {
		if op.HTTPErrorStatusCode >= 400 {
			return failed("", op.HTTPErrorMessage, op.HTTPErrorStatusCode)
		}
		return nil
	}
	first := op.Error.Errors[0]
	return failed(first.Code, first.Message, op.HTTPErrorStatusCode)
}
