package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"muster/app"
)

// Download streams a response of any length.
func (c *Client) Download(ctx context.Context, path string, q url.Values, to io.Writer) error {
	req, err := c.newRequest(ctx, http.MethodGet, path, q, nil)
	if err != nil {
		return err
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return c.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
		return refusal(resp, b)
	}
	if _, err := io.Copy(to, resp.Body); err != nil {
		return c.unreachable(err)
	}
	return nil
}

// CallInto reads. It retries while the server is temporarily unavailable, such as when its database restarts.
func (c *Client) CallInto(ctx context.Context, path string, q url.Values, out any) error {
	for pause := readPause; ; pause *= 2 {
		status, err := c.try(ctx, http.MethodGet, path, q, nil, out)
		if app.CodeOf(err) != app.ETransient || status < http.StatusInternalServerError || pause > longestReadPause {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// Call makes a call that may change something. Its idempotency key makes the server execute it once, and it's retried if its response was
// lost or the server is temporarily unavailable.
func (c *Client) Call(ctx context.Context, method, path string, q url.Values, in, out any) error {
	_, err := c.call(ctx, method, path, q, in, out)
	return err
}

// call is Call that also returns the status of the last response; 0 if there was none.
func (c *Client) call(ctx context.Context, method, path string, q url.Values, in, out any) (int, error) {
	if method == http.MethodGet {
		return c.try(ctx, method, path, q, in, out)
	}
	ctx = context.WithValue(ctx, keyOfCall{}, rand.Text())
	for pause := readPause; ; pause *= 2 {
		status, err := c.try(ctx, method, path, q, in, out)
		if err == nil || !again(status, err) || pause > longestReadPause {
			return status, err
		}
		select {
		case <-ctx.Done():
			return status, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// keyOfCall is the context key of a call's idempotency key.
type keyOfCall struct{}

// again reports whether to retry a call with a key after an error.
func again(status int, err error) bool {
	switch e := app.AsError(err); {
	case e.Reason == "in_progress":
		return true
	case e.Code != app.ETransient:
		return false
	case status == 0: // the connection broke, and not before it was established
		var op *net.OpError
		return !errors.As(err, &op) || op.Op != "dial"
	}
	return status >= http.StatusInternalServerError
}

// try makes one call within its time limit.
func (c *Client) try(ctx context.Context, method, path string, q url.Values, in, out any) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.do(ctx, method, path, q, in, out)
}

// rawBody is sent as it is.
type rawBody []byte

// do makes one call without retries.
func (c *Client) do(ctx context.Context, method, path string, q url.Values, in, out any) (int, error) {
	var body io.Reader
	kind := "application/json"
	if raw, ok := in.(rawBody); ok {
		body, kind = bytes.NewReader(raw), "application/octet-stream"
	} else if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return 0, err
		}
		body = bytes.NewReader(b)
	}
	req, err := c.newRequest(ctx, method, path, q, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept", "application/json")
	if key, ok := ctx.Value(keyOfCall{}).(string); ok {
		req.Header.Set("Idempotency-Key", key)
	}
	if in != nil {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return 0, c.unreachable(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return resp.StatusCode, c.unreachable(err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return resp.StatusCode, refusal(resp, b)
	}
	if resp.StatusCode == http.StatusNoContent {
		return resp.StatusCode, nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return resp.StatusCode, &app.Error{Code: app.EInternal, Message: fmt.Sprintf("%s didn't respond like a Muster server", c.Settings().URL),
			Hint: "Use the portal's URL, without /api.", Err: err}
	}
	return resp.StatusCode, nil
}

// newRequest returns an authenticated request.
func (c *Client) newRequest(ctx context.Context, method, path string, q url.Values, body io.Reader) (*http.Request, error) {
	address := strings.TrimSuffix(c.Settings().URL, "/") + "/api/v1" + path
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if c.Settings().Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Settings().Token)
	}
	if c.Agent != "" {
		req.Header.Set("User-Agent", c.Agent)
	}
	if c.ActIn != "" {
		req.Header.Set("Muster-Tenant", c.ActIn)
	}
	return req, nil
}

// unreachable is the error of a server that can't be reached or doesn't respond.
func (c *Client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	// url.Error repeats method and URL, which the message already has.
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return &app.Error{Code: app.ETransient, Message: fmt.Sprintf("the server at %s doesn't respond", c.Settings().URL),
		Hint: "Start a server with `muster serve`, or choose another with --server or MUSTER_URL.", Err: err}
}
