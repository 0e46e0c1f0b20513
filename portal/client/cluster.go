package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/fleet"
	"muster/app/health"
)

// ClusterPath is the path of a cluster, by its id or name, or of something of it.
func ClusterPath(id string, rest ...string) string {
	return strings.Join(append([]string{"/clusters", url.PathEscape(id)}, rest...), "/")
}

// Cluster gives a cluster by its id or name; ENotFound where there is none that one may see.
func (c *Client) Cluster(ctx context.Context, id string) (v cluster.ClusterView, err error) {
	err = c.CallInto(ctx, ClusterPath(id), nil, &v)
	return v, err
}

// Delete has a cluster deleted, and gives it as it is then. It does not wait.
func (c *Client) Delete(ctx context.Context, id string) (v cluster.ClusterView, err error) {
	err = c.Call(ctx, http.MethodDelete, ClusterPath(id), nil, nil, &v)
	return v, err
}

// Clusters lists them, in as many calls as that takes; f.Limit 0 is what a server gives at once.
func (c *Client) Clusters(ctx context.Context, f app.ClusterFilter) (all []app.ClusterSummary, err error) {
	q := url.Values{}
	if f.Deleted {
		q.Set("deleted", "true")
	}
	for name, value := range map[string]string{"name": f.Name, "owner": f.Owner, "status": string(f.Status), "template": f.Template,
		"provider": f.Provider, "q": f.Text, "sort": string(f.Sort)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for {
		if f.Limit > 0 {
			q.Set("limit", strconv.Itoa(min(f.Limit-len(all), ListLimit)))
		}
		var out cluster.ClusterPage
		if err := c.CallInto(ctx, "/clusters", q, &out); err != nil {
			return nil, err
		}
		if all = append(all, out.Clusters...); out.Next == "" || len(all) >= f.Limit {
			return all, nil
		}
		q.Set("after", out.Next)
	}
}

// Steps gives the steps of an operation; 0 means the latest one.
func (c *Client) Steps(ctx context.Context, id string, operation int64) ([]app.Step, error) {
	q := url.Values{}
	if operation != 0 {
		q.Set("operation", strconv.FormatInt(operation, 10))
	}
	var out struct {
		Steps []app.Step `json:"steps"`
	}
	err := c.CallInto(ctx, ClusterPath(id, "steps"), q, &out)
	return out.Steps, err
}

// Key gives the user and the private key (OpenSSH PEM) that let one into the nodes of a cluster.
func (c *Client) Key(ctx context.Context, id string) (user string, pem []byte, err error) {
	var out struct {
		User       string `json:"user"`
		PrivateKey string `json:"private_key"`
	}
	err = c.CallInto(ctx, ClusterPath(id, "key"), nil, &out)
	return out.User, []byte(out.PrivateKey), err
}

// Events gives what came after a number; where nothing has, it waits for up to wait before it gives nothing.
func (c *Client) Events(ctx context.Context, id string, after int64, wait time.Duration) ([]app.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+callTimeout)
	defer cancel()
	q := url.Values{"after": {strconv.FormatInt(after, 10)}, "wait": {strconv.Itoa(int(wait.Seconds()))}}
	var out struct {
		Events []app.Event `json:"events"`
	}
	_, err := c.do(ctx, http.MethodGet, ClusterPath(id, "events"), q, nil, &out)
	return out.Events, err
}

// Logs gives a page of what steps have said.
func (c *Client) Logs(ctx context.Context, id string, f cluster.LogFilter) (found cluster.LogPage, err error) {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" && value != "0" {
			q.Set(name, value)
		}
	}
	set("node", f.Node)
	set("step", f.Step)
	set("operation", strconv.FormatInt(f.Operation, 10))
	set("stream", string(f.Stream))
	set("q", f.Text)
	set("after", strconv.FormatInt(f.After, 10))
	set("before", strconv.FormatInt(f.Before, 10))
	set("limit", strconv.Itoa(f.Limit))
	if f.Tail {
		q.Set("tail", "true")
	}
	err = c.CallInto(ctx, ClusterPath(id, "logs"), q, &found)
	return found, err
}

// RenameCluster gives a cluster another name.
func (c *Client) RenameCluster(ctx context.Context, id, name string) (v cluster.ClusterView, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "rename"), nil, map[string]string{"name": name}, &v)
	return v, err
}

// CheckHealth has a check of a cluster's health start now. What it returns is from before that check.
func (c *Client) CheckHealth(ctx context.Context, id string) (h health.ClusterHealth, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "health/check"), nil, nil, &h)
	return h, err
}

// TransferCluster transfers a cluster to another user of its tenant, or to group:NAME.
func (c *Client) TransferCluster(ctx context.Context, id, to string) (v cluster.ClusterView, err error) {
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "transfer"), nil, map[string]string{"to": to}, &v)
	return v, err
}

// Sharing tells who has access to a cluster.
func (c *Client) Sharing(ctx context.Context, id string) (s cluster.ClusterSharing, err error) {
	err = c.CallInto(ctx, ClusterPath(id, "sharing"), nil, &s)
	return s, err
}

// Share changes who has access to a cluster.
func (c *Client) Share(ctx context.Context, id string, change cluster.SharingChange) (s cluster.ClusterSharing, err error) {
	err = c.Call(ctx, http.MethodPut, ClusterPath(id, "sharing"), nil, change, &s)
	return s, err
}

type clusterDefaults struct {
	Visibility app.Visibility `json:"visibility"`
}

// DefaultVisibility tells who may see the tenant's new clusters.
func (c *Client) DefaultVisibility(ctx context.Context) (app.Visibility, error) {
	var out clusterDefaults
	err := c.CallInto(ctx, "/cluster-defaults", nil, &out)
	return out.Visibility, err
}

// SetDefaultVisibility sets it.
func (c *Client) SetDefaultVisibility(ctx context.Context, v app.Visibility) error {
	return c.Call(ctx, http.MethodPut, "/cluster-defaults", nil, clusterDefaults{v}, &clusterDefaults{})
}

// Certificate gets an SSH certificate for a public key; ttl is a length of time in words, "" the usual one.
func (c *Client) Certificate(ctx context.Context, id, publicKey, ttl string) (cert cluster.Certificate, err error) {
	in := map[string]string{"public_key": publicKey}
	if ttl != "" {
		in["ttl"] = ttl
	}
	err = c.Call(ctx, http.MethodPost, ClusterPath(id, "certificate"), nil, in, &cert)
	return cert, err
}

// NodeReports gives what nodes were found to be at bootstrap; node "" is all.
func (c *Client) NodeReports(ctx context.Context, id, node string) (all []health.NodeReport, err error) {
	path := ClusterPath(id, "checks")
	if node != "" {
		path += "?" + url.Values{"node": {node}}.Encode()
	}
	err = c.CallInto(ctx, path, nil, &all)
	return all, err
}

// ClusterSpec gives what to ask for to get a cluster like this.
func (c *Client) ClusterSpec(ctx context.Context, id string) (e cluster.SpecExport, err error) {
	err = c.CallInto(ctx, ClusterPath(id, "spec"), nil, &e)
	return e, err
}

// ClonePreview works out what a clone of a cluster would be.
func (c *Client) ClonePreview(ctx context.Context, id, name string) (p cluster.Preview, err error) {
	err = c.CallInto(ctx, ClusterPath(id, "clone"), url.Values{"name": {name}}, &p)
	return p, err
}

// Diff compares two clusters, or moments of them.
func (c *Client) Diff(ctx context.Context, a, b string) (d cluster.ClusterDiff, err error) {
	err = c.CallInto(ctx, "/diff", url.Values{"a": {a}, "b": {b}}, &d)
	return d, err
}

// Receipt tells every machine that a cluster has had and what it cost.
func (c *Client) Receipt(ctx context.Context, id string) (r fleet.Receipt, err error) {
	err = c.CallInto(ctx, ClusterPath(id, "receipt"), nil, &r)
	return r, err
}
