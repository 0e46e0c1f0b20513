package digitalocean

import (
	"context"
	"time"

	"github.com/digitalocean/godo"
	"muster/app"
	"muster/app/family"
)

// Sleep lets the system shut itself down, and cuts its power where it takes too long.
func (c *cloud) Sleep(ctx context.Context, id string) error {
	for _, act := range []func(context.Context, int) (*godo.Action, *godo.Response, error){c.api.DropletActions.Shutdown, c.api.DropletActions.PowerOff} {
		d, err := c.droplet(ctx, id)
		if err != nil || state(d.Status) == family.MachineStopped {
			return err
		}
		if _, _, err := act(ctx, d.ID); err != nil {
			return failure("droplet:update", err)
		}
		done, err := c.await(ctx, id, c.timing.shutdown, func(s family.MachineState) bool { return s == family.MachineStopped })
		if done || err != nil {
			return err
		}
	}
	return app.Errorf(app.ETransient, "Droplet %s didn't stop even after a power-off.", id)
}

// Wake starts a droplet that is off, and returns when it is seen to start: until then it is described as stopped.
func (c *cloud) Wake(ctx context.Context, id string) error {
	d, err := c.droplet(ctx, id)
	switch {
	case err != nil:
		return err
	case d.Status == "archive":
		return app.Errorf(app.EInvalid, "Droplet %s is archived and can't be started by Muster.", id)
	case state(d.Status) != family.MachineStopped:
		return nil
	}
	if _, _, err := c.api.DropletActions.PowerOn(ctx, d.ID); err != nil {
		return failure("droplet:update", err)
	}
	done, err := c.await(ctx, id, 2*c.timing.shutdown, func(s family.MachineState) bool { return s != family.MachineStopped })
	if err == nil && !done {
		err = app.Errorf(app.ETransient, "Droplet %s didn't start.", id)
	}
	return err
}

// await looks at a droplet until it is in a state, for so long.
func (c *cloud) await(ctx context.Context, id string, limit time.Duration, is func(family.MachineState) bool) (bool, error) {
	for deadline := time.Now().Add(limit); ; {
		if err := wait(ctx, c.timing.look); err != nil {
			return false, err
		}
		d, err := c.droplet(ctx, id)
		if err != nil || is(state(d.Status)) {
			return err == nil, err
		}
		if time.Now().After(deadline) {
			return false, nil
		}
	}
}
