//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// changeful waits for the cluster, changes it a few times, now and then thinks better of it, and returns it.
func (u *user) changeful(ctx context.Context, name, id string) error {
	if err := u.untilActive(ctx, id); err != nil {
		return err
	}
	for range 1 + u.rand.IntN(3) {
		if err := u.change(ctx, id); err != nil {
			return err
		}
		if u.rand.IntN(4) == 0 {
			u.midway(ctx, id)
			if err := u.act(ctx, id, "cancel"); err != nil {
				return err
			}
			if _, err := u.ended(ctx, id); err != nil {
				return err
			}
			if err := u.act(ctx, id, "roll-back"); err != nil {
				return err
			}
		}
		if err := u.untilActive(ctx, id); err != nil {
			return err
		}
	}
	return u.delete(ctx, name, id)
}

// update makes one up for a cluster's current state.
func (u *user) update(v cluster.View) cluster.Update {
	var a cluster.Update
	if u.rand.IntN(4) == 0 {
		a.OnFailure = app.FailureRollBack
	}
	switch u.rand.IntN(6) {
	case 0, 1:
		a.Kind, a.Size = app.OperationResize, smallest+u.rand.IntN(largest-smallest+1)
	case 2:
		a.Kind, a.Batch = app.OperationRestart, u.rand.IntN(3)
	case 3:
		a.Kind, a.Config = app.OperationReconfigure, map[string]any{"colour": strconv.Itoa(u.rand.IntN(1000))}
	case 4:
		a.Kind, a.Services = app.OperationAddServices, []string{"cache"}
	default:
		a.Kind, a.OnFailure = app.OperationRepair, app.FailureLeave // what is given back cannot be rolled back
		a.Nodes = []string{v.Nodes[u.rand.IntN(len(v.Nodes))].Name}
	}
	return a
}

// change asks for an update until there is an answer. That the cluster cannot be changed so is an answer too. An unclear one is
// cleared up by the operations.
func (u *user) change(ctx context.Context, id string) error {
	v, err := u.h.client.cluster(ctx, id)
	if err != nil || v.Status == app.ClusterDeleted || len(v.Nodes) == 0 {
		return err
	}
	before, a := latestOf(v).ID, u.update(v)
	for {
		err := u.h.client.update(ctx, id, a)
		switch code := app.CodeOf(err); {
		case err == nil, code == app.EConflict, code == app.EInvalid:
			return nil
		case !errors.Is(err, errUnclear):
			return fmt.Errorf("%s: %w", a.Kind, err)
		}
		if err := u.pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		if v, err := u.h.client.cluster(ctx, id); err != nil || latestOf(v).ID != before {
			return err
		}
	}
}
