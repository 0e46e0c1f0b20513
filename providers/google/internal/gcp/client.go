package gcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	maxAnswer  = 64 << 20
	maxRefusal = 1 << 20
	maxPages   = 1000 // of one list
)

// Client asks the three APIs.
type Client struct {
	http                  *http.Client
	compute, dns, manager string
	disks
}

// New returns a client that sends its requests with h, which adds the credentials. Compute is another address of the Compute API, and others is where
// Cloud DNS and the Resource Manager answer; "" is Google's own addresses.
func New(h *http.Client, compute, others string) *Client {
	c := &Client{http: h,
		compute: cmp.Or(compute, "https://compute.googleapis.com/compute/v1/"),
		dns:     cmp.Or(others, "https://dns.googleapis.com/"),
		manager: cmp.Or(others, "https://cloudresourcemanager.googleapis.com/"),
	}
	c.disks.api = c
	return c
}

// path fills escaped parts into a template. Colons are escaped too: ids of projects may hold one, and the last one of a path sets a verb apart.
func path(template string, parts ...string) string {
	escaped := make([]any, len(parts))
	for i, p := range parts {
		escaped[i] = strings.ReplaceAll(url.QueryEscape(p), "+", "%20")
	}
	return fmt.Sprintf(template, escaped...)
}

func get[T any](ctx context.Context, c *Client, base, path string, query url.Values) (*T, error) {
	return ask[T](ctx, c, http.MethodGet, base, path, query, nil)
}

// ask sends one request, with a JSON body unless send is nil, and reads the answer.
func ask[T any](ctx context.Context, c *Client, method, base, path string, query url.Values, send any) (*T, error) {
	r, err := request(ctx, method, base, path, query, send)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return nil, refusal(answer)
	}
	out := new(T)
	b, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1)) // to its end, so that the connection is used again
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxAnswer:
		return nil, fmt.Errorf("a response from Google Cloud exceeds %d MB", maxAnswer>>20)
	case answer.StatusCode == http.StatusNoContent:
		return out, nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return nil, fmt.Errorf("can't read a response from Google Cloud: %w", err)
	}
	return out, nil
}

func request(ctx context.Context, method, base, path string, query url.Values, send any) (*http.Request, error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	at = at.JoinPath(path)
	at.RawQuery = with(query, "alt", "json", "prettyPrint", "false").Encode()
	var body io.Reader
	if send != nil {
		b, err := json.Marshal(send)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "muster")
	r.Header.Set("Accept", "application/json")
	if send != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// with adds pairs of names and values to a query, which may be nil. Empty values are left out.
func with(query url.Values, pairs ...string) url.Values {
	if query == nil {
		query = url.Values{}
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}

// Page is what answers with a part of a list have in common.
type Page struct {
	NextPageToken string `json:"nextPageToken,omitempty"`
}

func (p *Page) next() string { return p.NextPageToken }

// list calls each with every page, until it returns an error.
func list[T any, P interface {
	*T
	next() string
}](ctx context.Context, c *Client, base, path string, query url.Values, each func(P) error) error {
	for range maxPages {
		page, err := get[T](ctx, c, base, path, query)
		if err != nil {
			return err
		}
		if err := each(page); err != nil {
			return err
		}
		token := P(page).next()
		if token == "" {
			return nil
		}
		query = with(query, "pageToken", token)
	}
	return fmt.Errorf("a list from Google Cloud exceeds %d pages", maxPages)
}
