package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/operation"
	"muster/app/policy"
)

// Ask asks for a cluster; the answer has the cluster, or the request that waits.
func (c *Client) Ask(ctx context.Context, r appcluster.ClusterRequest) (appcluster.Answer, error) {
	return c.AskAt(ctx, "/clusters", r)
}

// AskAt asks where the answer is a cluster, or a request that waits.
func (c *Client) AskAt(ctx context.Context, path string, in any) (answer appcluster.Answer, err error) {
	var text json.RawMessage
	status, err := c.call(ctx, http.MethodPost, path, nil, in, &text)
	if err != nil {
		return answer, err
	}
	if status == http.StatusAccepted {
		err = json.Unmarshal(text, &answer.Request)
	} else {
		answer.Cluster = &appcluster.ClusterView{}
		err = json.Unmarshal(text, answer.Cluster)
	}
	if err != nil {
		err = &app.Error{Code: app.EInternal, Message: fmt.Sprintf("%s did not answer as a muster server does", c.Settings().URL), Err: err}
	}
	return answer, err
}

// PeopleOf says which people what one has just asked for waits for, in the words of app.Plan.PeopleInWords; "" for none, or where that
// cannot be found out, since the cluster is made all the same.
func (c *Client) PeopleOf(ctx context.Context, cluster string) string {
	mine, err := c.Requests(ctx, appcluster.RequestFilter{View: appcluster.RequestsMine, Limit: 1})
	if err != nil || len(mine) == 0 || mine[0].Cluster != cluster {
		return ""
	}
	return mine[0].Terms.People
}

func requestPath(id int64, rest string) string {
	return "/requests/" + strconv.FormatInt(id, 10) + rest
}

// Requests lists requests, newest first.
func (c *Client) Requests(ctx context.Context, f appcluster.RequestFilter) ([]appcluster.Request, error) {
	q := url.Values{}
	for name, value := range map[string]string{"view": string(f.View), "status": string(f.Status), "limit": strconv.Itoa(f.Limit), "before": strconv.FormatInt(f.Before, 10)} {
		if value != "" && value != "0" {
			q.Set(name, value)
		}
	}
	var out struct {
		Requests []appcluster.Request `json:"requests"`
	}
	err := c.CallInto(ctx, "/requests", q, &out)
	return out.Requests, err
}

// Request gives one request.
func (c *Client) Request(ctx context.Context, id int64) (r appcluster.Request, err error) {
	err = c.CallInto(ctx, requestPath(id, ""), nil, &r)
	return r, err
}

// Review approves or denies a request, or offers less.
func (c *Client) Review(ctx context.Context, id int64, v operation.ReviewRequest) (r appcluster.Request, err error) {
	err = c.Call(ctx, http.MethodPost, requestPath(id, "/reviews"), nil, v, &r)
	return r, err
}

// RequestAct does one of confirm, withdraw and break-glass.
func (c *Client) RequestAct(ctx context.Context, id int64, act string, in map[string]string) (r appcluster.Request, err error) {
	err = c.Call(ctx, http.MethodPost, requestPath(id, "/"+act), nil, in, &r)
	return r, err
}

// Policies lists the policies in the order in which they are looked at.
func (c *Client) Policies(ctx context.Context) (out PolicyList, err error) {
	err = c.CallInto(ctx, "/policies", nil, &out)
	return out, err
}

// PolicyList is what the server says of policies.
type PolicyList struct {
	TimeZone string              `json:"time_zone"`
	Policies []policy.Policy     `json:"policies"`
	Words    []policy.PolicyWord `json:"words"`
}

// Policy gives the versions of a policy, newest first.
func (c *Client) Policy(ctx context.Context, name string) ([]policy.Policy, error) {
	var out struct {
		Versions []policy.Policy `json:"versions"`
	}
	err := c.CallInto(ctx, "/policies/"+url.PathEscape(name), nil, &out)
	return out.Versions, err
}

// SavePolicy saves a policy as its next version.
func (c *Client) SavePolicy(ctx context.Context, p policy.Policy) (saved policy.Policy, err error) {
	err = c.Call(ctx, http.MethodPut, "/policies/"+url.PathEscape(p.Name), nil, p, &saved)
	return saved, err
}

// DeletePolicy deletes a policy; its versions are kept.
func (c *Client) DeletePolicy(ctx context.Context, name string) error {
	var out map[string]string
	return c.Call(ctx, http.MethodDelete, "/policies/"+url.PathEscape(name), nil, nil, &out)
}

// TryPolicy says what a policy would have done to requests of the past. Nothing is saved.
func (c *Client) TryPolicy(ctx context.Context, t policy.Try) (out policy.Trial, err error) {
	err = c.Call(ctx, http.MethodPost, "/policies/try", nil, t, &out)
	return out, err
}

// SetPolicyZone sets the time zone by which policies tell weekday and hour.
func (c *Client) SetPolicyZone(ctx context.Context, zone string) error {
	var out map[string]string
	return c.Call(ctx, http.MethodPut, "/policies-time-zone", nil, map[string]string{"time_zone": zone}, &out)
}

// Preview works out what a create would do.
func (c *Client) Preview(ctx context.Context, r appcluster.ClusterRequest) (p appcluster.Preview, err error) {
	err = c.Call(ctx, http.MethodPost, "/preview", nil, r, &p)
	return p, err
}
