package prometheus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/netguard"
)

const (
	askTime = 10 * time.Second // from the look-up of the name to the end of the answer
	maxRead = 256 << 10        // of an answer
	maxHead = 32 << 10         // of its header
)

// Config is what a client is made of.
type Config struct {
	Guard   *netguard.Guard // nil: what is public, over https
	Proxy   *url.URL        // that all requests go through; nil: none
	Roots   *x509.CertPool  // nil: those of the system
	Version string
}

// Client asks. It keeps no connection open. Its methods may be called from many goroutines.
type Client struct {
	guard   *netguard.Guard
	proxied bool
	http    *http.Client
	agent   string
}

// New makes a client.
func New(c Config) *Client {
	p := &Client{guard: c.Guard, proxied: c.Proxy != nil, agent: "Muster/" + c.Version}
	if p.guard == nil {
		p.guard = &netguard.Guard{}
	}
	t := &http.Transport{
		DialContext:            p.guard.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true, // one tenant's connection serves no other
		DisableCompression:     true, // what is small on the wire stays small here
		MaxResponseHeaderBytes: maxHead,
	}
	if c.Proxy != nil {
		t.Proxy, t.DialContext = http.ProxyURL(c.Proxy), nil // the operator named it
	}
	p.http = &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return p
}

// Query returns the one number of an instant query. EForbidden for an address that may not be spoken to, EInvalid for an answer that isn't one
// number, ETransient where no one answered.
func (c *Client) Query(ctx context.Context, address, query string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return 0, app.Errorf(app.EInvalid, "The URL of Prometheus is invalid.")
	}
	plain := u.Scheme == "http"
	ctx = netguard.Plain(ctx, plain)
	if c.proxied { // the proxy looks the name up for itself; what we can tell is refused all the same
		if _, err := c.guard.LookUp(ctx, u.Hostname(), plain); app.CodeOf(err) == app.EForbidden {
			return 0, err
		}
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/api/v1/query"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(url.Values{"query": {query}, "timeout": {"8s"}}.Encode()))
	if err != nil {
		return 0, app.Errorf(app.EInvalid, "The URL of Prometheus is invalid.")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", c.agent)
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, failed(ctx, u.Hostname(), err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRead+1))
	switch {
	case err != nil:
		return 0, failed(ctx, u.Hostname(), err)
	case len(body) > maxRead:
		return 0, app.Errorf(app.ETooLarge, "Prometheus answered with more than %s.", humanize.Bytes(maxRead))
	}
	return read(resp.StatusCode, body)
}

// failed says why there was no answer, without the URL.
func failed(ctx context.Context, host string, err error) error {
	var known *app.Error
	var wrapped *url.Error
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return app.Errorf(app.ETimeout, "%s gave no answer in time.", humanize.CutText(host, 200))
	case errors.As(err, &wrapped):
		err = wrapped.Err
	}
	return app.Errorf(app.ETransient, "The connection to %s failed: %s.", humanize.CutText(host, 200), humanize.CutText(humanize.PlainError(err), 200))
}

// answer is what /api/v1/query says.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	} `json:"data"`
}

// read reads one number from an answer: a scalar, or a vector of one sample.
func read(status int, body []byte) (float64, error) {
	var a answer
	bad := json.Unmarshal(body, &a)
	switch {
	case bad == nil && a.Status == "error" && a.Error != "":
		return 0, app.Errorf(app.EInvalid, "Prometheus says: %s.", strings.TrimSuffix(humanize.CutText(strings.ToValidUTF8(a.Error, ""), 200), "."))
	case status != http.StatusOK:
		return 0, app.Errorf(app.EInvalid, "Prometheus answered with status %d.", status)
	case bad != nil || a.Status != "success":
		return 0, app.Errorf(app.EInvalid, "The answer isn't one of Prometheus' query API.")
	}
	var sample []json.RawMessage
	switch a.Data.Type {
	case "scalar":
		bad = json.Unmarshal(a.Data.Result, &sample)
	case "vector":
		var list []struct {
			Value []json.RawMessage `json:"value"`
		}
		if bad = json.Unmarshal(a.Data.Result, &list); bad == nil && len(list) != 1 {
			return 0, &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("The query has %s instead of one.", humanize.Count(len(list), "result")),
				Hint: "Aggregate in the query, for example with sum()."}
		}
		if bad == nil {
			sample = list[0].Value
		}
	default:
		return 0, app.Errorf(app.EInvalid, "The query's result is a %.20q, not a number.", a.Data.Type)
	}
	var text string
	if bad != nil || len(sample) != 2 || json.Unmarshal(sample[1], &text) != nil {
		return 0, app.Errorf(app.EInvalid, "The answer isn't one of Prometheus' query API.")
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, app.Errorf(app.EInvalid, "The query's result, %.40q, isn't a number.", text)
	}
	return v, nil
}
