package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	appcluster "muster/app/cluster"
	"muster/app/operation"
)

// Requests are what people asked for that others approve.
type Requests part

// PeopleOf says which people what one has just asked for waits for, in the words of app.Plan.PeopleInWords; "" for none, or where that
// cannot be found out, since the cluster is made all the same.
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

// Get returns one request.
func (c *Requests) Get(ctx context.Context, id int64) (r appcluster.Request, err error) {
	err = c.client.CallInto(ctx, requestPath(id, ""), nil, &r)
	return r, err
}

// Review approves or denies a request, or offers less.
func (c *Requests) Review(ctx context.Context, id int64, v operation.ReviewRequest) (r appcluster.Request, err error) {
	err = c.client.Call(ctx, http.MethodPost, requestPath(id, "/reviews"), nil, v, &r)
	return r, err
}

// Act does one of confirm, withdraw and break-glass.
func (c *Requests) Act(ctx context.Context, id int64, act string, in map[string]string) (r appcluster.Request, err error) {
	err = c.client.Call(ctx, http.MethodPost, requestPath(id, "/"+act), nil, in, &r)
	return r, err
}
