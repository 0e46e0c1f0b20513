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
	"strconv"
	"strings"
	"time"

	"muster/app"
)

// client speaks the REST API of a server. Its errors are *app.Error with the words of the server; one that cannot be
// reached is app.ETransient. It is for one goroutine at a time.
type client struct {
	settings clientSettings
	http     *http.Client
	// reload finds the settings anew. A server that was started again may have another address or token.
	reload func() (clientSettings, error)
	home   string // the client's own directory; "" means that of the user
	actIn  string // the tenant in which a superadmin acts; "": its own
	status int    // of the last answer; 0 if there was none
}

// Limits of one call. A long poll may take its own wait on top.
const (
	callTimeout = 30 * time.Second
	answerLimit = 256 << 20 // bytes

	// What reads is tried again after each of these, doubled from the first to the last: for 3 s in all.
	readPause        = 200 * time.Millisecond
	longestReadPause = 1600 * time.Millisecond
)

// connect gives a client for the server that flags, environment or data directory name. It does not reach out yet.
func (c *cli) connect() (*client, error) {
	s, err := c.settings()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, usagef("%q is not the URL of a server", s.URL).hint("It looks like https://muster.example.com or http://localhost:8080.")
	}
	t, err := trust(s.CA)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = t
	return &client{settings: s, http: &http.Client{Transport: transport}, reload: c.settings, actIn: c.tenant}, nil
}

func clusterPath(id string, rest ...string) string {
	return strings.Join(append([]string{"/clusters", url.PathEscape(id)}, rest...), "/")
}

// create makes a cluster. Where people have to approve it first, it is EConflict, and the request goes on waiting.
func (c *client) create(ctx context.Context, r app.ClusterRequest) (app.ClusterView, error) {
	answer, err := c.ask(ctx, r)
	switch {
	case err != nil:
		return app.ClusterView{}, err
	case answer.Cluster == nil:
		return app.ClusterView{}, waitsError(answer.Request)
	}
	return *answer.Cluster, nil
}

func (c *client) cluster(ctx context.Context, id string) (v app.ClusterView, err error) {
	err = c.callInto(ctx, clusterPath(id), nil, &v)
	return v, err
}

func (c *client) delete(ctx context.Context, id string) (v app.ClusterView, err error) {
	err = c.call(ctx, http.MethodDelete, clusterPath(id), nil, nil, &v)
	return v, err
}

func (c *client) clusters(ctx context.Context, f app.ClusterFilter) ([]app.ClusterSummary, error) {
	q := url.Values{}
	if f.Deleted {
		q.Set("deleted", "true")
	}
	if f.Name != "" {
		q.Set("name", f.Name)
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	var out struct {
		Clusters []app.ClusterSummary `json:"clusters"`
	}
	err := c.callInto(ctx, "/clusters", q, &out)
	return out.Clusters, err
}

// steps gives the steps of an operation; 0 means the latest one.
func (c *client) steps(ctx context.Context, id string, operation int64) ([]app.Step, error) {
	q := url.Values{}
	if operation != 0 {
		q.Set("operation", strconv.FormatInt(operation, 10))
	}
	var out struct {
		Steps []app.Step `json:"steps"`
	}
	err := c.callInto(ctx, clusterPath(id, "steps"), q, &out)
	return out.Steps, err
}

// key gives the user and the private key (OpenSSH PEM) that let one into the nodes of a cluster.
func (c *client) key(ctx context.Context, id string) (user string, pem []byte, err error) {
	var out struct {
		User       string `json:"user"`
		PrivateKey string `json:"private_key"`
	}
	err = c.callInto(ctx, clusterPath(id, "key"), nil, &out)
	return out.User, []byte(out.PrivateKey), err
}

// events gives what came after a number; where nothing has, it waits for up to wait before it gives nothing.
func (c *client) events(ctx context.Context, id string, after int64, wait time.Duration) ([]app.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+callTimeout)
	defer cancel()
	q := url.Values{"after": {strconv.FormatInt(after, 10)}, "wait": {strconv.Itoa(int(wait.Seconds()))}}
	var out struct {
		Events []app.Event `json:"events"`
	}
	err := c.do(ctx, http.MethodGet, clusterPath(id, "events"), q, nil, &out)
	return out.Events, err
}

func (c *client) logs(ctx context.Context, id string, f app.LogFilter) ([]app.LogLine, error) {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" && value != "0" {
			q.Set(name, value)
		}
	}
	set("node", f.Node)
	set("step", f.Step)
	set("operation", strconv.FormatInt(f.Operation, 10))
	set("after", strconv.FormatInt(f.After, 10))
	set("limit", strconv.Itoa(f.Limit))
	if f.Tail {
		q.Set("tail", "true")
	}
	var out struct {
		Lines []app.LogLine `json:"lines"`
	}
	err := c.callInto(ctx, clusterPath(id, "logs"), q, &out)
	return out.Lines, err
}

// callInto reads. A server that answers that it cannot for the moment, as while its database is started anew, is asked again.
func (c *client) callInto(ctx context.Context, path string, q url.Values, out any) error {
	for pause := readPause; ; pause *= 2 {
		err := c.call(ctx, http.MethodGet, path, q, nil, out)
		if app.CodeOf(err) != app.ETransient || c.status < http.StatusInternalServerError || pause > longestReadPause {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (c *client) call(ctx context.Context, method, path string, q url.Values, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.do(ctx, method, path, q, in, out)
}

// rawBody is sent as it is.
type rawBody []byte

// do makes one call, once.
func (c *client) do(ctx context.Context, method, path string, q url.Values, in, out any) error {
	var body io.Reader
	kind := "application/json"
	if raw, ok := in.(rawBody); ok {
		body, kind = bytes.NewReader(raw), "application/octet-stream"
	} else if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := c.newRequest(ctx, method, path, q, body)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", kind)
	}
	c.status = 0
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(err)
	}
	defer resp.Body.Close()
	c.status = resp.StatusCode
	b, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return c.unreachable(err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return refusal(resp, b)
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return &app.Error{Code: app.EInternal, Message: fmt.Sprintf("%s did not answer as a muster server does", c.settings.URL),
			Hint: "Check the URL: it is the address of the portal, without /api.", Err: err}
	}
	return nil
}

// newRequest gives a request of the API that says who asks.
func (c *client) newRequest(ctx context.Context, method, path string, q url.Values, body io.Reader) (*http.Request, error) {
	address := strings.TrimSuffix(c.settings.URL, "/") + "/api/v1" + path
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if c.settings.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.settings.Token)
	}
	if c.actIn != "" {
		req.Header.Set("Muster-Tenant", c.actIn)
	}
	return req, nil
}

// unreachable says that the server could not be asked, or did not answer.
func (c *client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	// url.Error repeats method and address, which the message has already.
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return &app.Error{Code: app.ETransient, Message: fmt.Sprintf("the server at %s does not answer", c.settings.URL),
		Hint: "Is it running? `muster serve` starts one; --server or MUSTER_URL names another.", Err: err}
}

// refusal reads a problem document (RFC 9457) with our members; anything else is judged by its status.
func refusal(resp *http.Response, body []byte) error {
	var p struct {
		Title, Detail     string
		Code              app.Code
		Kind, Hint, Field string
		Errors            []struct{ Message, Location string }
	}
	_ = json.Unmarshal(body, &p) // not JSON: all stays empty
	e := &app.Error{Code: p.Code, Reason: p.Kind, Message: firstOf(p.Detail, p.Title), Hint: p.Hint, Field: p.Field}
	for _, more := range p.Errors[min(1, len(p.Errors)):] { // the first is what detail says
		e.Message += fmt.Sprintf("; %s: %s", more.Location, more.Message)
	}
	if e.Code == "" {
		e.Code = codeOfStatus(resp.StatusCode)
	}
	if e.Message == "" {
		e.Message = "the server answered " + resp.Status
	}
	if e.Code == app.EUnauthorized && e.Hint == "" {
		e.Hint = "Give a token with --token or MUSTER_TOKEN."
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

func codeOfStatus(status int) app.Code {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return app.EInvalid
	case http.StatusUnauthorized:
		return app.EUnauthorized
	case http.StatusForbidden:
		return app.EForbidden
	case http.StatusNotFound:
		return app.ENotFound
	case http.StatusConflict:
		return app.EConflict
	case http.StatusRequestEntityTooLarge:
		return app.ETooLarge
	case http.StatusTooManyRequests:
		return app.ERateLimit
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return app.ETransient
	}
	return app.EInternal
}
