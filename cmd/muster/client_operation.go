package main

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"muster/app"
)

// act tells an operation to do something; 0 is the one under way, or else the latest.
func (c *client) act(ctx context.Context, id string, operation int64, act string, in any) (v app.ClusterView, err error) {
	err = c.call(ctx, http.MethodPost, clusterPath(id, "operations", strconv.FormatInt(operation, 10), act), nil, in, &v)
	return v, err
}

func (c *client) cancel(ctx context.Context, id string, rollBack bool) (app.ClusterView, error) {
	return c.act(ctx, id, 0, "cancel", map[string]bool{"roll_back": rollBack})
}

// rollBackPreview gives what the roll-back of a cluster's latest operation would do.
func (c *client) rollBackPreview(ctx context.Context, id string) (p app.RollBackPreview, err error) {
	err = c.callInto(ctx, clusterPath(id, "operations", "0", "roll-back"), nil, &p)
	return p, err
}

func (c *client) rollBack(ctx context.Context, id string, p app.RollBackPreview) (app.ClusterView, error) {
	return c.act(ctx, id, p.Operation.ID, "roll-back", map[string]string{"plan_hash": p.PlanHash})
}

func (c *client) retryNode(ctx context.Context, id, node string) (v app.ClusterView, err error) {
	err = c.call(ctx, http.MethodPost, clusterPath(id, "nodes", url.PathEscape(node), "retry"), nil, nil, &v)
	return v, err
}

func (c *client) waiting(ctx context.Context, id string, f app.WaitingFilter) (w app.Waiting, err error) {
	q := url.Values{}
	for name, value := range map[string]string{"node": f.Node, "step": f.Step, "from": strconv.Itoa(f.From), "limit": strconv.Itoa(f.Limit)} {
		if value != "" && value != "0" {
			q.Set(name, value)
		}
	}
	err = c.callInto(ctx, clusterPath(id, "waiting"), q, &w)
	return w, err
}

func (c *client) queue(ctx context.Context) (q app.Queue, err error) {
	err = c.callInto(ctx, "/queue", nil, &q)
	return q, err
}
