package demodata

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"time"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// Site is the portal on a port of this machine.
type Site struct {
	URL    string
	server *http.Server
}

// Serve serves the portal, with what wrap puts around it; nil for nothing. Close it.
func (h *Instance) Serve(ctx context.Context, wrap func(http.Handler) http.Handler) (*Site, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Site{URL: "http://" + l.Addr().String(), server: &http.Server{Handler: h.Portal, ReadHeaderTimeout: 10 * time.Second}}
	if wrap != nil {
		s.server.Handler = wrap(h.Portal)
	}
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

// Close ends it, and what is open with it.
func (s *Site) Close() error { return s.server.Close() }

// Visitor is a browser of someone who has signed in, as far as HTTP goes.
type Visitor struct {
	Site   *Site
	Client *http.Client
}

// SignIn signs someone in with everyone's password.
func (s *Site) SignIn(ctx context.Context, user string) (*Visitor, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	// It asks for compressed pages and takes them as they come, as a browser does.
	v := &Visitor{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/signin", bytes.NewBufferString(url.Values{"tenant": {Tenant}, "user": {user}, "password": {password}}.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := v.Client.Do(req)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		return nil, fmt.Errorf("demodata: %s can't sign in: %s", user, resp.Status)
	}
	return v, nil
}

// Fetched is a page as it came.
type Fetched struct {
	Status    int
	FirstByte time.Duration // until the first byte of the page itself was there
	Sent      int           // bytes that the page took on its way
	Body      []byte
}

// Get fetches a page.
func (v *Visitor) Get(ctx context.Context, address string) (f Fetched, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.Site.URL+address, nil)
	if err != nil {
		return f, err
	}
	req.Header.Set("Accept-Encoding", "gzip")
	begun := time.Now()
	resp, err := v.Client.Do(req)
	if err != nil {
		return f, err
	}
	defer resp.Body.Close()
	var first [1]byte
	n, err := io.ReadFull(resp.Body, first[:])
	f.FirstByte = time.Since(begun)
	if err != nil && !errors.Is(err, io.EOF) {
		return f, err
	}
	rest, err := io.ReadAll(resp.Body)
	if err != nil {
		return f, err
	}
	f.Status, f.Body = resp.StatusCode, append(first[:n], rest...)
	f.Sent = len(f.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(f.Body))
		if err != nil {
			return f, err
		}
		if f.Body, err = io.ReadAll(z); err != nil {
			return f, err
		}
	}
	return f, nil
}
