package fake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/app/family"
)

// client is an account that another process holds; see Cloud.Serve.
type client struct {
	url    string
	secret string
	http   *http.Client
	late   atomic.Int64 // as the account last said
}

var (
	_ family.Provider       = (*client)(nil)
	_ family.ProviderCloser = (*client)(nil)
	_ family.LateLister     = (*client)(nil)
	_ family.Sleeper        = (*client)(nil)
	_ family.Adopter        = (*client)(nil)
)

// answerLimit bounds an answer, in bytes.
const answerLimit = 64 << 20

// Provider returns the account that the settings name: one of another process where they have a url, and otherwise the one
// that Open returns.
func Provider(name string, settings map[string]any) (family.Provider, error) {
	if text(settings, "url") == "" {
		return Open(name, settings)
	}
	if err := checkURL(settings); err != nil {
		return nil, err
	}
	return &client{url: text(settings, "url"), secret: text(settings, "secret"), http: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: callLimit + 5*time.Second}}}, nil
}

// checkURL refuses what leads nowhere, and settings that only the account's holder can have.
func checkURL(settings map[string]any) error {
	s := text(settings, "url")
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return invalid("url", "%q isn't a valid fake cloud address. For example, http://127.0.0.1:9000", s)
	}
	for _, field := range []string{"account", "delay", "boot", "list_lag", "quota", "room", "rate", "endpoint", "host_key"} {
		if text(settings, field) != "" {
			return invalid(field, "%q applies to an in-process account; the account at url has its own", field)
		}
	}
	return nil
}

func (c *client) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	a, err := c.ask(ctx, Create, question{Spec: &spec})
	return a.Machine, err
}

func (c *client) Describe(ctx context.Context, id string) (family.Machine, error) {
	a, err := c.ask(ctx, Describe, question{ID: id})
	return a.Machine, err
}

func (c *client) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	a, err := c.ask(ctx, List, question{Tags: tags})
	return a.Machines, err
}

func (c *client) Delete(ctx context.Context, id string) error {
	_, err := c.ask(ctx, Delete, question{ID: id})
	return err
}

func (c *client) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	_, err := c.ask(ctx, Adopt, question{ID: id, Spec: &spec})
	return err
}

func (c *client) Sleep(ctx context.Context, id string) error {
	_, err := c.ask(ctx, Sleep, question{ID: id})
	return err
}

func (c *client) Wake(ctx context.Context, id string) error {
	_, err := c.ask(ctx, Wake, question{ID: id})
	return err
}

// ListsLate implements family.LateLister. It is known once the account has answered anything.
func (c *client) ListsLate() time.Duration { return time.Duration(c.late.Load()) }

// Close lets go of idle connections.
func (c *client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// ask makes one call, once: net/http sends nothing again that has a body and no Idempotency-Key.
func (c *client) ask(ctx context.Context, verb Verb, q question) (a answer, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/"+string(verb), bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.secret)
	resp, err := c.http.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, app.Errorf(app.ETransient, "the fake cloud sent an invalid response %s", resp.Status)
	}
	c.late.Store(int64(a.Late))
	if a.Error != nil {
		a.Error.RetryAfter = a.RetryAfter
		return a, a.Error
	}
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("the fake cloud responded %s", resp.Status)
	}
	return a, nil
}
