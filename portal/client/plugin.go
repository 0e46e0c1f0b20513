package client

import (
	"context"
	"net/http"
	"net/url"

	"muster/app/plugin"
)

// Plugins are programs that add types of providers and automators.
type Plugins part

// List lists them.
func (c *Plugins) List(ctx context.Context) ([]plugin.View, error) {
	var out struct {
		Plugins []plugin.View `json:"plugins"`
	}
	err := c.client.CallInto(ctx, "/plugins", nil, &out)
	return out.Plugins, err
}

// Register pins one to its file; with a sum, the file must have that one.
func (c *Plugins) Register(ctx context.Context, name, sum string) (v plugin.View, err error) {
	body := struct {
		SHA256 string `json:"sha256,omitempty"`
	}{sum}
	err = c.client.Call(ctx, http.MethodPut, "/plugins/"+url.PathEscape(name), nil, body, &v)
	return v, err
}

// Remove keeps one from being run.
func (c *Plugins) Remove(ctx context.Context, name string) (v plugin.View, err error) {
	err = c.client.Call(ctx, http.MethodDelete, "/plugins/"+url.PathEscape(name), nil, nil, &v)
	return v, err
}
