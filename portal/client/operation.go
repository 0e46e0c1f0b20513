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

// Operations changes clusters, and controls what runs on them.
type Operations part

// Act tells an operation to do something; 0 is the one under way, or else the latest.
func (c *Operations) Act(ctx context.Context, id string, operation int64, act string, in any) (v cluster.ClusterView, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations", strconv.FormatInt(operation, 10), act), nil, in, &v)
	return v, err
}

// Cancel calls off what is being done with a cluster.
func (c *Operations) Cancel(ctx context.Context, id string, rollBack bool) (cluster.ClusterView, error) {
	return c.Act(ctx, id, 0, "cancel", map[string]bool{"roll_back": rollBack})
}

// RollBackPreview returns what the roll-back of a cluster's latest operation would do.
func (c *Operations) RollBackPreview(ctx context.Context, id string) (p appoperation.RollBackPreview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "operations", "0", "roll-back"), nil, &p)
	return p, err
}

// RollBack undoes what a preview has shown; EConflict where that has changed since.
func (c *Operations) RollBack(ctx context.Context, id string, p appoperation.RollBackPreview) (cluster.ClusterView, error) {
	return c.Act(ctx, id, p.Operation.ID, "roll-back", map[string]string{"plan_hash": p.PlanHash})
}

// RetryNode tries again what has failed on one node.
func (c *Operations) RetryNode(ctx context.Context, id, node string) (v cluster.ClusterView, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "nodes", url.PathEscape(node), "retry"), nil, nil, &v)
	return v, err
}

// AmendPreview returns what an amendment of a cluster would do.
func (c *Operations) AmendPreview(ctx context.Context, id string, m cluster.Amendment) (p cluster.AmendPreview, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations", "preview"), nil, m, &p)
	return p, err
}

// Amend changes a cluster that stands, as its preview has shown.
func (c *Operations) Amend(ctx context.Context, id string, m cluster.Amendment) (answer cluster.AmendAnswer, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations"), nil, m, &answer)
	return answer, err
}

// GoOnPreview works out how a cluster goes on with the machines that came.
func (c *Operations) GoOnPreview(ctx context.Context, id string) (p appoperation.GoOnPreview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "operations", "0", "go-on"), nil, &p)
	return p, err
}

// GoOn goes on with the machines that came, as the preview has shown.
func (c *Operations) GoOn(ctx context.Context, id string, p appoperation.GoOnPreview, noTopUp bool) (v cluster.ClusterView, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations", fmt.Sprint(p.Operation.ID), "go-on"), nil,
		map[string]any{"plan_hash": p.PlanHash, "no_top_up": noTopUp}, &v)
	return v, err
}

// TopUp says whether the nodes that a cluster lacks are asked for again, and when.
func (c *Operations) TopUp(ctx context.Context, id string, o appoperation.TopUpOrder) (v cluster.ClusterView, err error) {
	err = c.client.Call(ctx, http.MethodPut, ClusterPath(id, "top-up"), nil, o, &v)
	return v, err
}

// PowerPreview works out what a sleep or a wake would do.
func (c *Operations) PowerPreview(ctx context.Context, id string, kind app.OperationKind) (p cluster.AmendPreview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, string(kind)), nil, &p)
	return p, err
}

// Power puts a cluster to sleep or wakes it, as the preview has shown.
func (c *Operations) Power(ctx context.Context, id string, kind app.OperationKind, planHash string) (answer cluster.AmendAnswer, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, string(kind)), nil, map[string]string{"plan_hash": planHash}, &answer)
	return answer, err
}

// Steps returns the steps of an operation; 0 means the latest one.
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
