package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"muster/app"
	"muster/app/cluster"
	appoperation "muster/app/operation"
)

// Operations changes clusters and controls their operations.
type Operations part

// Act controls an operation; 0 is the current one, or else the latest.
func (c *Operations) Act(ctx context.Context, id string, operation int64, act string, in any) (v cluster.ClusterView, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations", strconv.FormatInt(operation, 10), act), nil, in, &v)
	return v, err
}

// Cancel cancels a cluster's current operation.
func (c *Operations) Cancel(ctx context.Context, id string, rollBack bool) (cluster.ClusterView, error) {
	return c.Act(ctx, id, 0, "cancel", map[string]bool{"roll_back": rollBack})
}

// RollBackPreview previews the rollback of a cluster's latest operation.
func (c *Operations) RollBackPreview(ctx context.Context, id string) (p appoperation.RollBackPreview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "operations", "0", "roll-back"), nil, &p)
	return p, err
}

// RollBack rolls back as previewed; EConflict if that has changed since.
func (c *Operations) RollBack(ctx context.Context, id string, p appoperation.RollBackPreview) (cluster.ClusterView, error) {
	return c.Act(ctx, id, p.Operation.ID, "roll-back", map[string]string{"plan_hash": p.PlanHash})
}

// RetryNode retries failed steps of a node.
func (c *Operations) RetryNode(ctx context.Context, id, node string) (v cluster.ClusterView, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "nodes", url.PathEscape(node), "retry"), nil, nil, &v)
	return v, err
}

// AmendPreview previews a change of a cluster.
func (c *Operations) AmendPreview(ctx context.Context, id string, m cluster.Amendment) (p cluster.AmendPreview, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations", "preview"), nil, m, &p)
	return p, err
}

// Amend changes a cluster, as previewed.
func (c *Operations) Amend(ctx context.Context, id string, m cluster.Amendment) (answer cluster.AmendAnswer, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations"), nil, m, &answer)
	return answer, err
}

// GoOnPreview previews accepting a partial result.
func (c *Operations) GoOnPreview(ctx context.Context, id string) (p appoperation.GoOnPreview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "operations", "0", "go-on"), nil, &p)
	return p, err
}

// GoOn accepts a partial result, as previewed.
func (c *Operations) GoOn(ctx context.Context, id string, p appoperation.GoOnPreview, noTopUp bool) (v cluster.ClusterView, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations", fmt.Sprint(p.Operation.ID), "go-on"), nil,
		map[string]any{"plan_hash": p.PlanHash, "no_top_up": noTopUp}, &v)
	return v, err
}

// TopUp sets whether and when missing nodes are backfilled.
func (c *Operations) TopUp(ctx context.Context, id string, o appoperation.TopUpOrder) (v cluster.ClusterView, err error) {
	err = c.client.Call(ctx, http.MethodPut, ClusterPath(id, "top-up"), nil, o, &v)
	return v, err
}

// PowerPreview previews putting a cluster to sleep or waking it.
func (c *Operations) PowerPreview(ctx context.Context, id string, kind app.OperationKind) (p cluster.AmendPreview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, string(kind)), nil, &p)
	return p, err
}

// Power puts a cluster to sleep or wakes it, as previewed.
func (c *Operations) Power(ctx context.Context, id string, kind app.OperationKind, planHash string) (answer cluster.AmendAnswer, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, string(kind)), nil, map[string]string{"plan_hash": planHash}, &answer)
	return answer, err
}

// Steps returns the steps of an operation; 0 is the latest.
func (c *Operations) Steps(ctx context.Context, id string, operation int64) ([]app.Step, error) {
	q := url.Values{}
	if operation != 0 {
		q.Set("operation", strconv.FormatInt(operation, 10))
	}
	var out struct {
		Steps []app.Step `json:"steps"`
	}
	err := c.client.CallInto(ctx, ClusterPath(id, "steps"), q, &out)
	return out.Steps, err
}
