package client

import (
	"context"
	"muster/app/schedule"
	"net/http"
)

// Schedules are clusters' sleep schedules.
type Schedules part

// Get returns a cluster's sleep schedule.
func (c *Schedules) Get(ctx context.Context, id string) (s schedule.ClusterSchedule, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "schedule"), nil, &s)
	return s, err
}

// Set sets a cluster's sleep schedule.
func (c *Schedules) Set(ctx context.Context, id string, in schedule.Schedule) (s schedule.ClusterSchedule, err error) {
	err = c.client.Call(ctx, http.MethodPut, ClusterPath(id, "schedule"), nil, in, &s)
	return s, err
}
