//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/fleet"
)

// client speaks the REST API of whichever server answers.
type client struct {
	dirs []string // where servers leave their address and a token
	http *http.Client
	next atomic.Int64
	// offers are the things that this build's API can be asked for, by "METHOD path".
	offers map[string]bool
}

// errUnclear is for a question whose answer never came: what it asked for may have happened.
var errUnclear = errors.New("no response")

// callTimeout bounds one question. A frozen server does not answer in that time.
const callTimeout = 10 * time.Second

func newClient(dirs []string) *client {
	return &client{dirs: dirs, http: &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 8}}}
}

// ask puts one question, once. The error is errUnclear, or *app.Error with the server's words.
func (c *client) ask(ctx context.Context, method, path string, in, out any) error {
	dir := c.dirs[int(c.next.Add(1))%len(c.dirs)]
	b, err := os.ReadFile(filepath.Join(dir, "client.json"))
	if err != nil {
		return fmt.Errorf("%w: %w", errUnclear, err)
	}
	var at struct{ URL, Token string }
	if err := json.Unmarshal(b, &at); err != nil {
		return fmt.Errorf("%w: %w", errUnclear, err)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, at.URL+"/api/v1"+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+at.Token)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnclear, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnclear, err)
	}
	if resp.StatusCode >= 400 {
		return refusal(resp.StatusCode, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s sent an invalid response: %w", method, path, err)
	}
	return nil
}

// refusal reads what the server said. Whether a thing that it could not do just now has happened is unclear.
func refusal(status int, text []byte) error {
	var p struct {
		Title, Detail string
		Code          app.Code
		Hint          string
	}
	_ = json.Unmarshal(text, &p)
	e := &app.Error{Code: p.Code, Message: fmt.Sprintf("%d %s", status, p.Detail), Hint: p.Hint}
	if p.Detail == "" {
		e.Message = fmt.Sprintf("%d %s", status, text)
	}
	if status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout {
		return fmt.Errorf("%w: %w", errUnclear, e)
	}
	return e
}

// patiently asks until there is an answer. Only for what may be asked twice.
func (c *client) patiently(ctx context.Context, method, path string, in, out any) error {
	for {
		err := c.ask(ctx, method, path, in, out)
		if !errors.Is(err, errUnclear) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// learn reads what the API offers.
func (c *client) learn(ctx context.Context) error {
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := c.patiently(ctx, http.MethodGet, "/openapi.json", nil, &doc); err != nil {
		return err
	}
	c.offers = map[string]bool{}
	for path, methods := range doc.Paths {
		for method := range methods {
			c.offers[method+" "+path] = true
		}
	}
	return nil
}

// can reports whether the operation of a cluster can be asked for this in this build, such as "pause".
func (c *client) can(act string) bool {
	if act == updates {
		return c.offers["post /clusters/{id}/operations"]
	}
	return c.offers["post /clusters/{id}/operations/{operation}/"+act]
}

func (c *client) create(ctx context.Context, r cluster.CreateRequest) (v cluster.View, err error) {
	err = c.ask(ctx, http.MethodPost, "/clusters", r, &v)
	return v, err
}

func (c *client) cluster(ctx context.Context, id string) (v cluster.View, err error) {
	err = c.patiently(ctx, http.MethodGet, "/clusters/"+url.PathEscape(id), nil, &v)
	return v, err
}

// act asks one thing of a cluster, or of the operation that is running or else the latest.
func (c *client) act(ctx context.Context, id, act string) error {
	var v cluster.View
	path := "/clusters/" + url.PathEscape(id)
	switch act {
	case "delete":
		return c.ask(ctx, http.MethodDelete, path, nil, &v)
	case "resume":
		return c.ask(ctx, http.MethodPost, path+"/resume", nil, &v)
	}
	return c.ask(ctx, http.MethodPost, path+"/operations/0/"+act, nil, &v)
}

// updates is what a build can that changes clusters which stand.
const updates = "update"

// update asks for a change of a cluster that is active.
func (c *client) update(ctx context.Context, id string, a cluster.Update) error {
	var answer cluster.UpdateAnswer
	return c.ask(ctx, http.MethodPost, "/clusters/"+url.PathEscape(id)+"/operations", a, &answer)
}

// clusters returns all that the server knows, also those that are gone. Name "" means every name.
func (c *client) clusters(ctx context.Context, name string) ([]app.ClusterSummary, error) {
	var out struct{ Clusters []app.ClusterSummary }
	q := url.Values{"deleted": {"true"}, "limit": {"1000"}}
	if name != "" {
		q.Set("name", name)
	}
	err := c.patiently(ctx, http.MethodGet, "/clusters?"+q.Encode(), nil, &out)
	return out.Clusters, err
}

func (c *client) steps(ctx context.Context, id string, operation int64) ([]app.Step, error) {
	var out struct{ Steps []app.Step }
	err := c.patiently(ctx, http.MethodGet, "/clusters/"+url.PathEscape(id)+"/steps?operation="+strconv.FormatInt(operation, 10), nil, &out)
	return out.Steps, err
}

// orphan returns the machine's entry among the orphans; false where Muster does not list it.
func (c *client) orphan(ctx context.Context, machine string) (fleet.Orphan, bool, error) {
	var out struct{ Orphans []fleet.Orphan }
	err := c.patiently(ctx, http.MethodGet, "/orphans", nil, &out)
	for _, o := range out.Orphans {
		if o.Machine == machine {
			return o, true, err
		}
	}
	return fleet.Orphan{}, false, err
}

// deleteOrphan decides that an orphan is to go now.
func (c *client) deleteOrphan(ctx context.Context, id string) error {
	var o fleet.Orphan
	return c.patiently(ctx, http.MethodPost, "/orphans/"+url.PathEscape(id), map[string]string{"decision": "delete"}, &o)
}
