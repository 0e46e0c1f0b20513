package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"muster/app/build"
)

func buildPath(id int64, rest ...string) string {
	return strings.Join(append([]string{"/builds", strconv.FormatInt(id, 10)}, rest...), "/")
}

func buildHookPath(name string, rest ...string) string {
	return strings.Join(append([]string{"/build-hooks", url.PathEscape(name)}, rest...), "/")
}

// BuildHookList is a tenant's build hooks and the supported build systems.
type BuildHookList struct {
	Hooks   []build.BuildHook `json:"hooks"`
	Systems []build.System    `json:"systems"`
}

// BuildHooks are webhooks for build systems.
type BuildHooks part

// List lists build hooks.
func (c *BuildHooks) List(ctx context.Context) (out BuildHookList, err error) {
	err = c.client.CallInto(ctx, "/build-hooks", nil, &out)
	return out, err
}

// Get returns a build hook with its rules.
func (c *BuildHooks) Get(ctx context.Context, name string) (h build.BuildHook, err error) {
	err = c.client.CallInto(ctx, buildHookPath(name), nil, &h)
	return h, err
}

// Save creates or updates a build hook.
func (c *BuildHooks) Save(ctx context.Context, r build.BuildHookRequest) (s build.SavedBuildHook, err error) {
	err = c.client.Call(ctx, http.MethodPut, buildHookPath(r.Name), nil, r, &s)
	return s, err
}

// SetRules replaces a build hook's rules.
func (c *BuildHooks) SetRules(ctx context.Context, name string, rules []build.Rule) (h build.BuildHook, err error) {
	err = c.client.Call(ctx, http.MethodPut, buildHookPath(name, "rules"), nil, map[string]any{"rules": rules}, &h)
	return h, err
}

// Delete deletes a build hook and the clusters of its builds.
func (c *BuildHooks) Delete(ctx context.Context, name string) error {
	return c.client.Call(ctx, http.MethodDelete, buildHookPath(name), nil, nil, nil)
}

// Try tries rules without side effects.
func (c *BuildHooks) Try(ctx context.Context, name string, t build.Trial) (out build.RuleTrialResult, err error) {
	err = c.client.Call(ctx, http.MethodPost, buildHookPath(name, "try"), nil, t, &out)
	return out, err
}

// Deliveries lists deliveries before one, newest first; next is 0 at the end.
func (c *BuildHooks) Deliveries(ctx context.Context, name string, before int64, limit int) (list []build.DeliveryRecord, next int64, err error) {
	var out struct {
		Deliveries []build.DeliveryRecord `json:"deliveries"`
		Next       int64                  `json:"next"`
	}
	q := url.Values{"limit": {strconv.Itoa(limit)}, "before": {strconv.FormatInt(before, 10)}}
	err = c.client.CallInto(ctx, buildHookPath(name, "deliveries"), q, &out)
	return out.Deliveries, out.Next, err
}

// Delivery returns a delivery with its body.
func (c *BuildHooks) Delivery(ctx context.Context, name string, id int64) (d build.DeliveryRecord, err error) {
	err = c.client.CallInto(ctx, buildHookPath(name, "deliveries", strconv.FormatInt(id, 10)), nil, &d)
	return d, err
}

// Replay replays a delivery with the current rules.
func (c *BuildHooks) Replay(ctx context.Context, name string, id int64) (d build.DeliveryRecord, err error) {
	err = c.client.Call(ctx, http.MethodPost, buildHookPath(name, "deliveries", strconv.FormatInt(id, 10), "replay"), nil, nil, &d)
	return d, err
}

// Builds are builds and their clusters.
type Builds part

// List lists builds, newest first; next is 0 at the end.
func (c *Builds) List(ctx context.Context, f build.Filter) (list []build.Build, next int64, err error) {
	q := url.Values{"limit": {strconv.Itoa(f.Limit)}, "before": {strconv.FormatInt(f.Before, 10)}}
	for name, value := range map[string]string{"hook": f.Hook, "key": f.Key, "build": f.Build, "cluster": f.Cluster} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Live {
		q.Set("live", "true")
	}
	var out struct {
		Builds []build.Build `json:"builds"`
		Next   int64         `json:"next"`
	}
	err = c.client.CallInto(ctx, "/builds", q, &out)
	return out.Builds, out.Next, err
}

// Get returns a build with its cluster, waiting at most some seconds until it's ready.
func (c *Builds) Get(ctx context.Context, id int64, wait int) (v build.View, err error) {
	err = c.client.CallInto(ctx, buildPath(id), url.Values{"wait": {strconv.Itoa(wait)}}, &v)
	return v, err
}

// End ends a build.
func (c *Builds) End(ctx context.Context, id int64) (v build.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, buildPath(id, "end"), nil, nil, &v)
	return v, err
}

// Extend extends the lease of a build's cluster, such as by 1h.
func (c *Builds) Extend(ctx context.Context, id int64, by string) (v build.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, buildPath(id, "extend"), nil, map[string]string{"by": by}, &v)
	return v, err
}
