package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"muster/app/image"
)

// Images are baked images.
type Images part

// List lists baked images and the rules by which they are built.
func (c *Images) List(ctx context.Context) (v image.View, err error) {
	err = c.client.CallInto(ctx, "/images", nil, &v)
	return v, err
}

// Bake has the images of a template built. A size of 0 is the smallest.
func (c *Images) Bake(ctx context.Context, template string, size int) (b image.Built, err error) {
	body := map[string]any{"template": template}
	if size != 0 {
		body["size"] = size
	}
	err = c.client.Call(ctx, http.MethodPost, "/images", nil, body, &b)
	return b, err
}

// Delete deletes an image.
func (c *Images) Delete(ctx context.Context, id int64) error {
	return c.client.Call(ctx, http.MethodDelete, "/images/"+strconv.FormatInt(id, 10), nil, nil, nil)
}

// SetRule has images of a template built when it's used often.
func (c *Images) SetRule(ctx context.Context, r image.Rule) (is image.Rule, err error) {
	err = c.client.Call(ctx, http.MethodPut, "/images/rules/"+url.PathEscape(r.Template), nil,
		map[string]any{"after_creates": r.AfterCreates, "within": r.Within, "keep_unused": r.KeepUnused}, &is)
	return is, err
}

// DeleteRule has no more images of a template built.
func (c *Images) DeleteRule(ctx context.Context, template string) error {
	return c.client.Call(ctx, http.MethodDelete, "/images/rules/"+url.PathEscape(template), nil, nil, nil)
}
