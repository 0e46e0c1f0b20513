package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	appcluster "muster/app/cluster"
	"muster/app/operation"
)

// Requests are requests for approval.
type Requests part

// PeopleOf returns the manual steps of a new request as text, as app.Plan.PeopleInWords does; "" for none, or on errors, since the cluster
// is created in any case.
func (c *Requests) PeopleOf(ctx context.Context, cluster string) string {
	mine, err := c.List(ctx, appcluster.RequestFilter{View: appcluster.RequestsMine, Limit: 1})
	if err != nil || len(mine) == 0 || mine[0].Cluster != cluster {
		return ""
	}
	return mine[0].Terms.People
}

func requestPath(id int64, rest string) string {
	return "/requests/" + strconv.FormatInt(id, 10) + rest
}

// List lists requests, newest first.
func (c *Requests) List(ctx context.Context, f appcluster.RequestFilter) ([]appcluster.Request, error) {
	q := url.Values{}
	for name, value := range map[string]string{"view": string(f.View), "status": string(f.Status), "limit": strconv.Itoa(f.Limit), "before": strconv.FormatInt(f.Before, 10)} {
		if value != "" && value != "0" {
			q.Set(name, value)
		}
	}
	var out struct {
		Requests []appcluster.Request `json:"requests"`
	}
	err := c.client.CallInto(ctx, "/requests", q, &out)
	return out.Requests, err
}

// Get returns a request.
func (c *Requests) Get(ctx context.Context, id int64) (r appcluster.Request, err error) {
	err = c.client.CallInto(ctx, requestPath(id, ""), nil, &r)
	return r, err
}

// Review approves or denies a request, or approves it with conditions.
func (c *Requests) Review(ctx context.Context, id int64, v operation.ReviewRequest) (r appcluster.Request, err error) {
	err = c.client.Call(ctx, http.MethodPost, requestPath(id, "/reviews"), nil, v, &r)
	return r, err
}

// Act confirms, withdraws or overrides (break-glass) a request.
func (c *Requests) Act(ctx context.Context, id int64, act string, in map[string]string) (r appcluster.Request, err error) {
	err = c.client.Call(ctx, http.MethodPost, requestPath(id, "/"+act), nil, in, &r)
	return r, err
}
