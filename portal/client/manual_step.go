package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/execution"
)

// ManualSteps are open manual steps.
type ManualSteps part

// List lists the manual steps of a cluster or, if it's "", of all; mine are those that the caller can answer.
func (c *ManualSteps) List(ctx context.Context, cluster string, mine bool) ([]execution.ManualStep, error) {
	q := url.Values{}
	if cluster != "" {
		q.Set("cluster", cluster)
	}
	if mine {
		q.Set("mine", "true")
	}
	var out struct {
		ManualSteps []execution.ManualStep `json:"manual_steps"`
	}
	err := c.client.CallInto(ctx, "/manual-steps", q, &out)
	return out.ManualSteps, err
}

// Answer answers a manual step.
func (c *ManualSteps) Answer(ctx context.Context, cluster string, s execution.StepAnswer) (q execution.ManualStep, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(cluster, "answers"), nil, s, &q)
	return q, err
}
