package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/resource"
)

func resourcePath(id resource.ID, rest ...string) string {
	return strings.Join(append([]string{"/resources", url.PathEscape(id.Path())}, rest...), "/")
}

// Resources are archives and files for automators.
type Resources part

// List lists resources, in several calls if needed.
func (c *Resources) List(ctx context.Context, f resource.Filter) (list []resource.Info, err error) {
	q := url.Values{}
	for name, v := range map[string]string{"family": string(f.Family), "member": f.Member, "type": f.Type, "search": f.Search} {
		if v != "" {
			q.Set(name, v)
		}
	}
	for {
		var out struct {
			Resources []resource.Info `json:"resources"`
			Next      string          `json:"next"`
		}
		if err := c.client.CallInto(ctx, "/resources", q, &out); err != nil {
			return nil, err
		}
		list = append(list, out.Resources...)
		if out.Next == "" {
			return list, nil
		}
		q.Set("after", out.Next)
	}
}

// Types lists the resource types.
func (c *Resources) Types(ctx context.Context) ([]resource.Types, error) {
	var out struct {
		Types []resource.Types `json:"types"`
	}
	err := c.client.CallInto(ctx, "/resource-types", nil, &out)
	return out.Types, err
}

// Get returns a resource with its versions.
func (c *Resources) Get(ctx context.Context, id resource.ID) (r resource.Info, err error) {
	err = c.client.CallInto(ctx, resourcePath(id), nil, &r)
	return r, err
}

// Mark stages or recalls a version: mark is stage or recall.
func (c *Resources) Mark(ctx context.Context, id resource.ID, number int64, mark string) (r resource.Info, err error) {
	err = c.client.Call(ctx, http.MethodPost, resourcePath(id, "versions", strconv.FormatInt(number, 10), mark), nil, nil, &r)
	return r, err
}

// Delete deletes an inactive version.
func (c *Resources) Delete(ctx context.Context, id resource.ID, number int64) error {
	return c.client.Call(ctx, http.MethodDelete, resourcePath(id, "versions", strconv.FormatInt(number, 10)), nil, nil, nil)
}

// Sync activates staged versions and deactivates recalled ones; dry only previews that.
func (c *Resources) Sync(ctx context.Context, member string, dry bool) (s resource.Sync, err error) {
	err = c.client.Call(ctx, http.MethodPost, "/resource-sync", nil, map[string]any{"member": member, "dry_run": dry}, &s)
	return s, err
}

// Diff compares two versions.
func (c *Resources) Diff(ctx context.Context, id resource.ID, from, to int64) (d resource.Diff, err error) {
	err = c.client.CallInto(ctx, resourcePath(id, "diff"), url.Values{"from": {strconv.FormatInt(from, 10)}, "to": {strconv.FormatInt(to, 10)}}, &d)
	return d, err
}

// Import has the server fetch a version from git.
func (c *Resources) Import(ctx context.Context, p resource.Push) (v resource.Version, err error) {
	in := map[string]any{"git": p.Source.Git, "ref": p.Source.Ref, "folder": p.Source.Folder, "secret": p.Source.Secret, "note": p.Note, "stage": p.Stage}
	_, err = c.client.do(ctx, http.MethodPost, resourcePath(p.ID, "import"), nil, in, &v)
	return v, err
}

// Push streams a file. Its hash is sent too, so that the server rejects corrupt content.
func (c *Resources) Push(ctx context.Context, p resource.Push, f io.ReadSeeker, size int64, seen func(int64)) (v resource.Version, err error) {
	q := url.Values{"file": {filepath.Base(p.Source.File)}}
	if p.Note != "" {
		q.Set("note", p.Note)
	}
	if p.Stage {
		q.Set("stage", "true")
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return v, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return v, err
	}
	q.Set("sha256", hex.EncodeToString(h.Sum(nil)))
	req, err := c.client.newRequest(ctx, http.MethodPut, resourcePath(p.ID, "content"), q, io.NopCloser(&counted{r: io.LimitReader(f, size), seen: seen}))
	if err != nil {
		return v, err
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("Accept", "application/json")
	resp, err := c.client.HTTP.Do(req)
	if err != nil {
		return v, c.client.unreachable(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return v, c.client.unreachable(err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return v, refusal(resp, b)
	}
	return v, json.Unmarshal(b, &v)
}

// Pull downloads a version and verifies its hash. It resumes interrupted downloads.
func (c *Resources) Pull(ctx context.Context, id resource.ID, v resource.Version, w io.Writer, seen func(int64)) error {
	h := sha256.New()
	var have int64
	for try := 1; ; try++ {
		n, err := c.pullFrom(ctx, id, v.Number, have, io.MultiWriter(w, h), func(n int64) { seen(have + n) })
		have += n
		if err == nil && have == v.Size {
			break
		}
		if err == nil {
			err = &app.Error{Code: app.ETransient, Message: fmt.Sprintf("the download stopped after %d of %d bytes", have, v.Size)}
		}
		if app.CodeOf(err) != app.ETransient || try == 5 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	if hex.EncodeToString(h.Sum(nil)) != v.Hash {
		return &app.Error{Code: app.EInternal, Message: "the downloaded content is corrupt: its SHA-256 doesn't match"}
	}
	return nil
}

func (c *Resources) pullFrom(ctx context.Context, id resource.ID, number, from int64, w io.Writer, seen func(int64)) (int64, error) {
	req, err := c.client.newRequest(ctx, http.MethodGet, resourcePath(id, "versions", strconv.FormatInt(number, 10), "content"), nil, nil)
	if err != nil {
		return 0, err
	}
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	resp, err := c.client.HTTP.Do(req)
	if err != nil {
		return 0, c.client.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return 0, refusal(resp, b)
	}
	read := &counted{r: resp.Body, seen: seen}
	n, err := io.Copy(w, read)
	if err != nil && read.err != nil && !errors.Is(read.err, io.EOF) {
		return n, c.client.unreachable(read.err)
	}
	return n, err
}

// counted counts the bytes read.
type counted struct {
	r    io.Reader
	n    int64
	seen func(int64)
	err  error
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if c.n += int64(n); c.seen != nil {
		c.seen(c.n)
	}
	c.err = err
	return n, err
}
