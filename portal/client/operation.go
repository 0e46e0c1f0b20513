package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	appoperation "muster/app/operation"
	"muster/app/schedule"
)

// Act tells an operation to do something; 0 is the one under way, or else the latest.
func (c *Client) Act(ctx context.Context, id string, operation int64, act string, in any) (v cluster.ClusterView, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "operations", strconv.FormatInt(operation, 10), act), nil, in, &v)
	return v, err
}

// Cancel calls off what is being done with a cluster.
func (c *Client) Cancel(ctx context.Context, id string, rollBack bool) (cluster.ClusterView, error) {
	return c.Act(ctx, id, 0, "cancel", map[string]bool{"roll_back": rollBack})
}

// RollBackPreview gives what the roll-back of a cluster's latest operation would do.
func (c *Client) RollBackPreview(ctx context.Context, id string) (p appoperation.RollBackPreview, err error) {
	err = c.CallInto(ctx, ClusterPath(id, "operations", "0", "roll-back"), nil, &p)
	return p, err
}

// RollBack undoes what a preview has shown; EConflict where that has changed since.
func (c *Client) RollBack(ctx context.Context, id string, p appoperation.RollBackPreview) (cluster.ClusterView, error) {
	return c.Act(ctx, id, p.Operation.ID, "roll-back", map[string]string{"plan_hash": p.PlanHash})
}

// RetryNode tries again what has failed on one node.
func (c *Client) RetryNode(ctx context.Context, id, node string) (v cluster.ClusterView, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "nodes", url.PathEscape(node), "retry"), nil, nil, &v)
	return v, err
}

// Waiting tells what a cluster's steps wait for.
func (c *Client) Waiting(ctx context.Context, id string, f execution.WaitingFilter) (w execution.Waiting, err error) {
	q := url.Values{}
	for name, value := range map[string]string{"node": f.Node, "step": f.Step, "from": strconv.Itoa(f.From), "limit": strconv.Itoa(f.Limit)} {
		if value != "" && value != "0" {
			q.Set(name, value)
		}
	}
	err = c.CallInto(ctx, ClusterPath(id, "waiting"), q, &w)
	return w, err
}

// Queue tells what waits for workers.
func (c *Client) Queue(ctx context.Context) (q execution.Queue, err error) {
	err = c.CallInto(ctx, "/queue", nil, &q)
	return q, err
}

// AmendPreview gives what an amendment of a cluster would do.
func (c *Client) AmendPreview(ctx context.Context, id string, m cluster.Amendment) (p cluster.AmendPreview, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "operations", "preview"), nil, m, &p)
	return p, err
}

// Amend changes a cluster that stands, as its preview has shown.
func (c *Client) Amend(ctx context.Context, id string, m cluster.Amendment) (answer cluster.AmendAnswer, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "operations"), nil, m, &answer)
	return answer, err
}

// GoOnPreview works out how a cluster goes on with the machines that came.
func (c *Client) GoOnPreview(ctx context.Context, id string) (p appoperation.GoOnPreview, err error) {
	err = c.CallInto(ctx, ClusterPath(id, "operations", "0", "go-on"), nil, &p)
	return p, err
}

// GoOn goes on with the machines that came, as the preview has shown.
func (c *Client) GoOn(ctx context.Context, id string, p appoperation.GoOnPreview, noTopUp bool) (v cluster.ClusterView, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "operations", fmt.Sprint(p.Operation.ID), "go-on"), nil,
		map[string]any{"plan_hash": p.PlanHash, "no_top_up": noTopUp}, &v)
	return v, err
}

// TopUp says whether the nodes that a cluster lacks are asked for again, and when.
func (c *Client) TopUp(ctx context.Context, id string, o appoperation.TopUpOrder) (v cluster.ClusterView, err error) {
	err = c.Call(ctx, http.MethodPut, ClusterPath(id, "top-up"), nil, o, &v)
	return v, err
}

// Queues gives what waits in all tenants, for superadmins.
func (c *Client) Queues(ctx context.Context) (q execution.Queues, err error) {
	err = c.CallInto(ctx, "/queues", nil, &q)
	return q, err
}

// PowerPreview works out what a sleep or a wake would do.
func (c *Client) PowerPreview(ctx context.Context, id string, kind app.OperationKind) (p cluster.AmendPreview, err error) {
	err = c.CallInto(ctx, ClusterPath(id, string(kind)), nil, &p)
	return p, err
}

// Power puts a cluster to sleep or wakes it, as the preview has shown.
func (c *Client) Power(ctx context.Context, id string, kind app.OperationKind, planHash string) (answer cluster.AmendAnswer, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, string(kind)), nil, map[string]string{"plan_hash": planHash}, &answer)
	return answer, err
}

// Schedule tells when a cluster goes to sleep and wakes.
func (c *Client) Schedule(ctx context.Context, id string) (s schedule.ClusterSchedule, err error) {
	err = c.CallInto(ctx, ClusterPath(id, "schedule"), nil, &s)
	return s, err
}

// SetSchedule says when a cluster goes to sleep and wakes.
func (c *Client) SetSchedule(ctx context.Context, id string, in schedule.Schedule) (s schedule.ClusterSchedule, err error) {
	err = c.Call(ctx, http.MethodPut, ClusterPath(id, "schedule"), nil, in, &s)
	return s, err
}
