package client

import (
	"context"
	"muster/app/schedule"
	"net/http"
)

// Schedules are when clusters sleep and wake.
type Schedules part

// Get tells when a cluster goes to sleep and wakes.
func (c *Schedules) Get(ctx context.Context, id string) (s schedule.ClusterSchedule, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "schedule"), nil, &s)
	return s, err
}

// Set says when a cluster goes to sleep and wakes.
func (c *Schedules) Set(ctx context.Context, id string, in schedule.Schedule) (s schedule.ClusterSchedule, err error) {
	err = c.client.Call(ctx, http.MethodPut, ClusterPath(id, "schedule"), nil, in, &s)
	return s, err
}
