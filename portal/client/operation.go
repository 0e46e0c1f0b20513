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
	"muster/app/quarantine"
	"muster/app/template"
)

// Operations changes clusters and controls their operations.
type Operations part

// Act controls an operation; 0 is the current one, or else the latest.
func (c *Operations) Act(ctx context.Context, id string, operation int64, act string, in any) (v cluster.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations", strconv.FormatInt(operation, 10), act), nil, in, &v)
	return v, err
}

// Cancel cancels a cluster's current operation.
func (c *Operations) Cancel(ctx context.Context, id string, rollBack bool) (cluster.View, error) {
	return c.Act(ctx, id, 0, "cancel", map[string]bool{"roll_back": rollBack})
}

// RollBackPreview previews the rollback of a cluster's latest operation.
func (c *Operations) RollBackPreview(ctx context.Context, id string, keep template.KeepTime) (p appoperation.RollBackPreview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "operations", "0", "roll-back"), keepQuery(keep), &p)
	return p, err
}

// RollBack rolls back as previewed; EConflict if that has changed since.
func (c *Operations) RollBack(ctx context.Context, id string, p appoperation.RollBackPreview, keep template.KeepTime) (cluster.View, error) {
	return c.Act(ctx, id, p.Operation.ID, "roll-back", map[string]string{"plan_hash": p.PlanHash, "keep_failed": string(keep)})
}

// RetryNode retries failed steps of a node.
func (c *Operations) RetryNode(ctx context.Context, id, node string) (v cluster.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "nodes", url.PathEscape(node), "retry"), nil, nil, &v)
	return v, err
}

// UpdatePreview previews a change of a cluster.
func (c *Operations) UpdatePreview(ctx context.Context, id string, m cluster.Update) (p cluster.UpdatePreview, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations", "preview"), nil, m, &p)
	return p, err
}

// Update changes a cluster, as previewed.
func (c *Operations) Update(ctx context.Context, id string, m cluster.Update) (answer cluster.UpdateAnswer, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations"), nil, m, &answer)
	return answer, err
}

// AcceptPartialPreview previews accepting a partial result.
func (c *Operations) AcceptPartialPreview(ctx context.Context, id string, keep template.KeepTime) (p appoperation.AcceptPartialPreview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "operations", "0", "accept-partial"), keepQuery(keep), &p)
	return p, err
}

// AcceptPartial accepts a partial result, as previewed.
func (c *Operations) AcceptPartial(ctx context.Context, id string, p appoperation.AcceptPartialPreview, how template.PartialOverride) (v cluster.View,
	err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "operations", fmt.Sprint(p.Operation.ID), "accept-partial"), nil,
		map[string]any{"plan_hash": p.PlanHash, "no_backfill": how.NoBackfill, "keep_failed": how.KeepFailed}, &v)
	return v, err
}

func keepQuery(keep template.KeepTime) url.Values {
	q := url.Values{}
	if keep != "" {
		q.Set("keep_failed", string(keep))
	}
	return q
}

// Kept lists failed machines that are kept for inspection, of one cluster or of all.
func (c *Operations) Kept(ctx context.Context, cluster string) ([]quarantine.Machine, error) {
	q := url.Values{}
	if cluster != "" {
		q.Set("cluster", cluster)
	}
	var out struct {
		Machines []quarantine.Machine `json:"machines"`
	}
	err := c.client.CallInto(ctx, "/kept-machines", q, &out)
	return out.Machines, err
}

// Backfill sets whether and when missing nodes are backfilled.
func (c *Operations) Backfill(ctx context.Context, id string, o appoperation.BackfillOrder) (v cluster.View, err error) {
	err = c.client.Call(ctx, http.MethodPut, ClusterPath(id, "backfill"), nil, o, &v)
	return v, err
}

// PowerPreview previews putting a cluster to sleep or waking it.
func (c *Operations) PowerPreview(ctx context.Context, id string, kind app.OperationKind) (p cluster.UpdatePreview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, string(kind)), nil, &p)
	return p, err
}

// Power puts a cluster to sleep or wakes it, as previewed.
func (c *Operations) Power(ctx context.Context, id string, kind app.OperationKind, planHash string) (answer cluster.UpdateAnswer, err error) {
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
