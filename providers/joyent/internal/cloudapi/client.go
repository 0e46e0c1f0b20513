package cloudapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/providers/internal/account"
)

// most is how long an answer may be.
const most = 64 << 20

// page is how many things a list is asked for at once; CloudAPI returns no more than 1000.
const page = 500

// Client asks one datacenter on behalf of one account.
type Client struct {
	url     string
	account string
	signer  *Signer
	http    *http.Client
	now     func() time.Time
}

// New returns a client for the CloudAPI at a URL.
func New(url, account string, signer *Signer, h *http.Client) *Client {
	return &Client{url: strings.TrimRight(url, "/"), account: account, signer: signer, http: h, now: time.Now}
}

// Error is an answer that refuses.
type Error struct {
	Status  int
	Code    string
	Message string
	Header  http.Header
}

// Error returns the cloud's words.
func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("CloudAPI responded %d %s", e.Status, http.StatusText(e.Status))
	}
	return e.Message
}

// do asks once. Path is below the account's; what is sent and what comes back is JSON.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, send, receive any) (http.Header, error) {
	var body io.Reader
	if send != nil {
		b, err := json.Marshal(send)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	at := c.url + "/" + url.PathEscape(c.account) + path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, at, body)
	if err != nil {
		return nil, err
	}
	r.GetBody = nil // nothing is sent twice
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Version", "~9||~8")
	r.Header.Set("User-Agent", "muster")
	if send != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if err := c.signer.sign(r, c.now()); err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		e := &Error{Status: answer.StatusCode, Header: answer.Header}
		var said struct{ Code, Message string }
		if json.Unmarshal(b, &said) == nil {
			e.Code, e.Message = said.Code, said.Message
		}
		return nil, e
	}
	if receive != nil {
		if err := json.Unmarshal(b, receive); err != nil {
			return nil, fmt.Errorf("can't read CloudAPI's response: %w", err)
		}
	}
	return answer.Header, nil
}

// list goes over the pages of a list. The header says how many there are; where it does not, a page that is not full is the last.
func list[T any](ctx context.Context, c *Client, path string, query url.Values) ([]T, error) {
	if query == nil {
		query = url.Values{}
	}
	var all []T
	query.Set("limit", strconv.Itoa(page))
	for range account.MaxPages {
		query.Set("offset", strconv.Itoa(len(all)))
		var some []T
		header, err := c.do(ctx, http.MethodGet, path, query, nil, &some)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		count, err := strconv.Atoi(header.Get("X-Resource-Count"))
		if len(some) == 0 || err == nil && len(all) >= count || err != nil && len(some) < page {
			return all, nil
		}
	}
	return nil, account.EndlessList("CloudAPI")
}
