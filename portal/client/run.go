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

// Actions lists the actions of a cluster's template.
func (c *Runs) Actions(ctx context.Context, id string) ([]run.Action, error) {
	var out struct {
		Actions []run.Action `json:"actions"`
	}
	err := c.client.CallInto(ctx, ClusterPath(id, "actions"), nil, &out)
	return out.Actions, err
}
