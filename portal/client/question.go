package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/execution"
)

// Questions are open manual steps.
type Questions part

// List lists the manual steps of a cluster or, if it's "", of all; mine are those that the caller can answer.
func (c *Questions) List(ctx context.Context, cluster string, mine bool) ([]execution.Question, error) {
	q := url.Values{}
	if cluster != "" {
		q.Set("cluster", cluster)
	}
	if mine {
		q.Set("mine", "true")
	}
	var out struct {
		Questions []execution.Question `json:"questions"`
	}
	err := c.client.CallInto(ctx, "/questions", q, &out)
	return out.Questions, err
}

// Answer answers a manual step.
func (c *Questions) Answer(ctx context.Context, cluster string, s execution.StepAnswer) (q execution.Question, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(cluster, "answers"), nil, s, &q)
	return q, err
}
