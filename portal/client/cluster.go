package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/cluster"
	"muster/app/fleet"
	"muster/app/health"
	"muster/app/label"
	"muster/app/layout"
	"muster/app/sshaccess"
)

// ClusterPath is the path of a cluster, by ID or name, or of one of its subresources.
func ClusterPath(id string, rest ...string) string {
	return strings.Join(append([]string{"/clusters", url.PathEscape(id)}, rest...), "/")
}

// Clusters creates, reads and deletes clusters.
type Clusters part

// Get returns a cluster by ID or name; ENotFound if there's none that the caller can see.
func (c *Clusters) Get(ctx context.Context, id string) (v cluster.View, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id), nil, &v)
	return v, err
}

// Places returns the places of a cluster's request, and what was tried; without candidates if it named one place only.
func (c *Clusters) Places(ctx context.Context, id string) (p layout.Places, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "places"), nil, &p)
	return p, err
}

// Delete starts deleting a cluster and returns it. It doesn't wait.
func (c *Clusters) Delete(ctx context.Context, id string) (v cluster.View, err error) {
	err = c.client.Call(ctx, http.MethodDelete, ClusterPath(id), nil, nil, &v)
	return v, err
}

// List lists clusters, in several calls if needed; f.Limit 0 is the server's page size.
func (c *Clusters) List(ctx context.Context, f app.ClusterFilter) (all []app.ClusterSummary, err error) {
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
	if len(f.Labels) > 0 {
		labels := make([]string, len(f.Labels))
		for i, l := range f.Labels {
			if labels[i] = l.Key; l.Value != "" {
				labels[i] += "=" + l.Value
			}
		}
		q.Set("label", strings.Join(labels, ","))
	}
	for {
		if f.Limit > 0 {
			q.Set("limit", strconv.Itoa(min(f.Limit-len(all), ListLimit)))
		}
		var out cluster.Page
		if err := c.client.CallInto(ctx, "/clusters", q, &out); err != nil {
			return nil, err
		}
		if all = append(all, out.Clusters...); out.Next == "" || len(all) >= f.Limit {
			return all, nil
		}
		q.Set("after", out.Next)
	}
}

// Key returns the SSH user and private key (OpenSSH PEM) of a cluster's nodes.
func (c *Clusters) Key(ctx context.Context, id string) (user string, pem []byte, err error) {
	var out struct {
		User       string `json:"user"`
		PrivateKey string `json:"private_key"`
	}
	err = c.client.CallInto(ctx, ClusterPath(id, "key"), nil, &out)
	return out.User, []byte(out.PrivateKey), err
}

// Events returns the events after a number; if there are none, it waits up to wait for one.
func (c *Clusters) Events(ctx context.Context, id string, after int64, wait time.Duration) ([]app.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+callTimeout)
	defer cancel()
	q := url.Values{"after": {strconv.FormatInt(after, 10)}, "wait": {strconv.Itoa(int(wait.Seconds()))}}
	var out struct {
		Events []app.Event `json:"events"`
	}
	_, err := c.client.do(ctx, http.MethodGet, ClusterPath(id, "events"), q, nil, &out)
	return out.Events, err
}

// Logs returns a page of the steps' logs.
func (c *Clusters) Logs(ctx context.Context, id string, f cluster.LogFilter) (found activity.LogPage, err error) {
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
	err = c.client.CallInto(ctx, ClusterPath(id, "logs"), q, &found)
	return found, err
}

// Rename renames a cluster.
func (c *Clusters) Rename(ctx context.Context, id, name string) (v cluster.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "rename"), nil, map[string]string{"name": name}, &v)
	return v, err
}

// Label changes the description and labels of a cluster.
func (c *Clusters) Label(ctx context.Context, id string, change label.Change) (v cluster.View, err error) {
	err = c.client.Call(ctx, http.MethodPatch, ClusterPath(id, "labels"), nil, change, &v)
	return v, err
}

// CheckHealth starts a health check of a cluster. It returns the state before that check.
func (c *Clusters) CheckHealth(ctx context.Context, id string) (h health.ClusterHealth, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "health/check"), nil, nil, &h)
	return h, err
}

// Transfer transfers a cluster to another user of its tenant, or to group:NAME.
func (c *Clusters) Transfer(ctx context.Context, id, to string) (v cluster.View, err error) {
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "transfer"), nil, map[string]string{"to": to}, &v)
	return v, err
}

// Certificate gets an SSH certificate for a public key; ttl is a duration, "" for the default.
func (c *Clusters) Certificate(ctx context.Context, id, publicKey, ttl string) (cert sshaccess.ClusterCertificate, err error) {
	in := map[string]string{"public_key": publicKey}
	if ttl != "" {
		in["ttl"] = ttl
	}
	err = c.client.Call(ctx, http.MethodPost, ClusterPath(id, "certificate"), nil, in, &cert)
	return cert, err
}

// NodeReports returns the results of node checks at bootstrap; node "" is all.
func (c *Clusters) NodeReports(ctx context.Context, id, node string) (all []health.NodeReport, err error) {
	path := ClusterPath(id, "checks")
	if node != "" {
		path += "?" + url.Values{"node": {node}}.Encode()
	}
	err = c.client.CallInto(ctx, path, nil, &all)
	return all, err
}

// Spec returns the request for a cluster like this one.
func (c *Clusters) Spec(ctx context.Context, id string) (e cluster.SpecExport, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "spec"), nil, &e)
	return e, err
}

// ClonePreview previews a clone of a cluster.
func (c *Clusters) ClonePreview(ctx context.Context, id, name string) (p cluster.Preview, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "clone"), url.Values{"name": {name}}, &p)
	return p, err
}

// Diff compares two clusters, or two points in time.
func (c *Clusters) Diff(ctx context.Context, a, b string) (d cluster.Diff, err error) {
	err = c.client.CallInto(ctx, "/diff", url.Values{"a": {a}, "b": {b}}, &d)
	return d, err
}

// Receipt returns all machines that a cluster has had, with their costs.
func (c *Clusters) Receipt(ctx context.Context, id string) (r fleet.Receipt, err error) {
	err = c.client.CallInto(ctx, ClusterPath(id, "receipt"), nil, &r)
	return r, err
}

// Create requests a cluster; the answer has the cluster, or the request waiting for approval.
func (c *Clusters) Create(ctx context.Context, r cluster.CreateRequest) (cluster.Answer, error) {
	return c.CreateAt(ctx, "/clusters", r)
}

// CreateAt posts a request whose answer is a cluster or a request waiting for approval.
func (c *Clusters) CreateAt(ctx context.Context, path string, in any) (answer cluster.Answer, err error) {
	var text json.RawMessage
	status, err := c.client.call(ctx, http.MethodPost, path, nil, in, &text)
	if err != nil {
		return answer, err
	}
	if status == http.StatusAccepted {
		err = json.Unmarshal(text, &answer.Request)
	} else {
		answer.Cluster = &cluster.View{}
		err = json.Unmarshal(text, answer.Cluster)
	}
	if err != nil {
		err = &app.Error{Code: app.EInternal, Message: fmt.Sprintf("%s didn't respond like a Muster server", c.client.Settings().URL), Err: err}
	}
	return answer, err
}

// Preview previews a create.
func (c *Clusters) Preview(ctx context.Context, r cluster.CreateRequest) (p cluster.Preview, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/preview", nil, r, &p)
	return p, err
}
