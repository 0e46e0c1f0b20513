package client

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"

	"muster/app"
	"muster/portal/wire"
)

// Connect connects to the SSH port of a node through the server. Close it.
func (c *Clusters) Connect(ctx context.Context, id, node string) (net.Conn, error) {
	return c.client.stream(ctx, "/clusters/"+url.PathEscape(id)+"/nodes/"+url.PathEscape(node)+"/ssh")
}

// stream opens a WebSocket.
func (c *Client) stream(ctx context.Context, path string) (net.Conn, error) {
	req, err := c.newRequest(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	var trust *tls.Config
	if t, ok := c.HTTP.Transport.(*http.Transport); ok {
		trust = t.TLSClientConfig
	}
	s, resp, err := wire.DialStream(ctx, req.URL.String(), req.Header, trust)
	switch {
	case err == nil:
		return s, nil
	case resp == nil:
		return nil, c.unreachable(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(resp.Body, wire.MaxFrame))
	if resp.StatusCode < http.StatusBadRequest {
		return nil, &app.Error{Code: app.EInvalid, Message: "A proxy before the server doesn't pass WebSockets on: it responded " + resp.Status, Err: err}
	}
	return nil, refusal(resp, b)
}
