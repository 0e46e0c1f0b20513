package client

import (
	"context"
	"net/http"
	"strconv"

	"muster/app/cluster"
	"muster/app/run"
)

// Runs runs commands on nodes.
type Runs part

// Start runs a command, or requests it.
func (c *Runs) Start(ctx context.Context, id string, ask run.Ask) (answer cluster.UpdateAnswer, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "runs"), nil, ask, &answer)
	return answer, err
}

// Get returns a command by its operation; 0 is the latest.
func (c *Runs) Get(ctx context.Context, id string, operation int64) (v run.View, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "runs", strconv.FormatInt(operation, 10)), nil, &v)
	return v, err
}

// Schedules lists the schedules of a cluster's actions.
func (c *Runs) Schedules(ctx context.Context, id string) ([]run.ActionSchedule, error) {
	var out struct {
		Schedules []run.ActionSchedule `json:"schedules"`
	}
	err := c.client.CallInto(ctx, ClusterPath(id, "action-schedules"), nil, &out)
	return out.Schedules, err
}

// CreateSchedule has an action run again and again.
func (c *Runs) CreateSchedule(ctx context.Context, id string, n run.NewSchedule) (s run.ActionSchedule, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "action-schedules"), nil, n, &s)
	return s, err
}

// PauseSchedule pauses a schedule, or resumes it.
func (c *Runs) PauseSchedule(ctx context.Context, id, name string, pause bool) (s run.ActionSchedule, err error) {
	err = c.client.Call(ctx, http.MethodPatch, ClusterPath(id, "action-schedules", name), nil, map[string]bool{"paused": pause}, &s)
	return s, err
}

// DeleteSchedule deletes one.
func (c *Runs) DeleteSchedule(ctx context.Context, id, name string) error {
	return c.client.Call(ctx, http.MethodDelete, ClusterPath(id, "action-schedules", name), nil, nil, nil)
}

// Actions lists the actions of a cluster's template.
func (c *Runs) Actions(ctx context.Context, id string) ([]run.Action, error) {
	var out struct {
		Actions []run.Action `json:"actions"`
	}
	err := c.client.CallInto(ctx, ClusterPath(id, "actions"), nil, &out)
	return out.Actions, err
}
