package vsphere

import (
	"context"
	"time"

	"muster/app"

	"github.com/vmware/govmomi/vim25/types"
)

// firstLook is between the first looks at a task, which often takes no second.
const firstLook = 200 * time.Millisecond

// errForgotten is the error of a task that vCenter doesn't know any more, such as after it was started again. What the task did, isn't known.
var errForgotten = app.Errorf(app.ETransient, "vCenter doesn't know the task any more.")

// await waits until a task has ended, and returns its result. It's polled: that survives a session that ends meanwhile. A task continues when its caller
// doesn't.
func (c *cloud) await(ctx context.Context, task ref) (any, error) {
	for pause := min(firstLook, c.timing.look); ; pause = min(2*pause, c.timing.look) {
		o, err := c.one(ctx, task, "info")
		if absent(err) {
			err = errForgotten
		}
		if err != nil {
			return nil, err
		}
		switch info := prop[types.TaskInfo](o, "info"); info.State {
		case types.TaskInfoStateSuccess:
			return info.Result, nil
		case types.TaskInfoStateError:
			return nil, taskFailure(info.Error)
		}
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// running reports whether a task is still in progress.
func (c *cloud) running(ctx context.Context, task ref) (bool, error) {
	o, err := c.one(ctx, task, "info.state")
	if absent(err) {
		return false, nil
	}
	state := prop[types.TaskInfoState](o, "info.state")
	return state == types.TaskInfoStateRunning || state == types.TaskInfoStateQueued, err
}

func notThere(r ref) error {
	return app.Errorf(app.ENotFound, "%s %s doesn't exist in vCenter.", r.Type, r.Value)
}
