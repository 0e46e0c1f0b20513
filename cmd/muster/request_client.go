package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"muster/app"
)

// ask asks for a cluster; the answer has the cluster, or the request that waits.
func (c *client) ask(ctx context.Context, r app.ClusterRequest) (app.Answer, error) {
	return c.askAt(ctx, "/clusters", r)
}

// askAt asks where the answer is a cluster, or a request that waits.
func (c *client) askAt(ctx context.Context, path string, in any) (answer app.Answer, err error) {
	var text json.RawMessage
	if err := c.call(ctx, http.MethodPost, path, nil, in, &text); err != nil {
		return answer, err
	}
	if c.status == http.StatusAccepted {
		err = json.Unmarshal(text, &answer.Request)
	} else {
		answer.Cluster = &app.ClusterView{}
		err = json.Unmarshal(text, answer.Cluster)
	}
	if err != nil {
		err = &app.Error{Code: app.EInternal, Message: fmt.Sprintf("%s did not answer as a muster server does", c.settings.URL), Err: err}
	}
	return answer, err
}

// peopleOf says which people what I have just asked for waits for, in the words of app.Plan.PeopleInWords; "" for none, or where that
// cannot be found out, since the cluster is made all the same.
func (c *client) peopleOf(ctx context.Context, cluster string) string {
	mine, err := c.requests(ctx, app.RequestFilter{View: app.RequestsMine, Limit: 1})
	if err != nil || len(mine) == 0 || mine[0].Cluster != cluster {
		return ""
	}
	return mine[0].Terms.People
}

func requestPath(id int64, rest string) string {
	return "/requests/" + strconv.FormatInt(id, 10) + rest
}

func (c *client) requests(ctx context.Context, f app.RequestFilter) ([]app.Request, error) {
	q := url.Values{}
	for name, value := range map[string]string{"view": string(f.View), "status": string(f.Status), "limit": strconv.Itoa(f.Limit), "before": strconv.FormatInt(f.Before, 10)} {
		if value != "" && value != "0" {
			q.Set(name, value)
		}
	}
	var out struct {
		Requests []app.Request `json:"requests"`
	}
	err := c.callInto(ctx, "/requests", q, &out)
	return out.Requests, err
}

func (c *client) request(ctx context.Context, id int64) (r app.Request, err error) {
	err = c.callInto(ctx, requestPath(id, ""), nil, &r)
	return r, err
}

func (c *client) review(ctx context.Context, id int64, v app.ReviewRequest) (r app.Request, err error) {
	err = c.call(ctx, http.MethodPost, requestPath(id, "/reviews"), nil, v, &r)
	return r, err
}

// requestAct does one of confirm, withdraw and break-glass.
func (c *client) requestAct(ctx context.Context, id int64, act string, in map[string]string) (r app.Request, err error) {
	err = c.call(ctx, http.MethodPost, requestPath(id, "/"+act), nil, in, &r)
	return r, err
}

func (c *client) policies(ctx context.Context) (out policyListJSON, err error) {
	err = c.callInto(ctx, "/policies", nil, &out)
	return out, err
}

// policyListJSON is what the server says of policies.
type policyListJSON struct {
	TimeZone string           `json:"time_zone"`
	Policies []app.Policy     `json:"policies"`
	Words    []app.PolicyWord `json:"words"`
}

func (c *client) policy(ctx context.Context, name string) ([]app.Policy, error) {
	var out struct {
		Versions []app.Policy `json:"versions"`
	}
	err := c.callInto(ctx, "/policies/"+url.PathEscape(name), nil, &out)
	return out.Versions, err
}

func (c *client) savePolicy(ctx context.Context, p app.Policy) (saved app.Policy, err error) {
	err = c.call(ctx, http.MethodPut, "/policies/"+url.PathEscape(p.Name), nil, p, &saved)
	return saved, err
}

func (c *client) deletePolicy(ctx context.Context, name string) error {
	var out map[string]string
	return c.call(ctx, http.MethodDelete, "/policies/"+url.PathEscape(name), nil, nil, &out)
}

func (c *client) tryPolicy(ctx context.Context, t app.Try) (out app.Trial, err error) {
	err = c.call(ctx, http.MethodPost, "/policies/try", nil, t, &out)
	return out, err
}

func (c *client) setPolicyZone(ctx context.Context, zone string) error {
	var out map[string]string
	return c.call(ctx, http.MethodPut, "/policies-time-zone", nil, map[string]string{"time_zone": zone}, &out)
}

// preview works out what a create would do.
func (c *client) preview(ctx context.Context, r app.ClusterRequest) (p app.Preview, err error) {
	err = c.call(ctx, http.MethodPost, "/preview", nil, r, &p)
	return p, err
}
