package slacktest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"unicode/utf8"
)

// errCut is what the app's calls end with while there is no connection.
var errCut = errors.New("slacktest: no route to Slack")

// hosts are those of Slack. Everything else an app has no business with.
var hosts = map[string]bool{"slack.com": true, "www.slack.com": true, "hooks.slack.com": true}

var _ http.RoundTripper = (*Slack)(nil)

// HTTP returns a client for the app, for which this Slack is all of the net.
func (s *Slack) HTTP() *http.Client { return &http.Client{Transport: s} }

// RoundTrip implements http.RoundTripper: the whole net of an app, in which there is nothing but Slack.
func (s *Slack) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(io.LimitReader(r.Body, maxCallSize+1))
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	cut := s.cut || s.closed
	if !cut {
		if !hosts[r.URL.Host] || r.URL.Scheme != "https" {
			s.violate("host", r.URL.Host, "the app calls %s://%s, which is not Slack's", r.URL.Scheme, r.URL.Host)
			cut = true
		} else if len(body) > maxCallSize {
			s.violate("size", r.URL.Path, "a call of more than %d bytes", maxCallSize)
		}
	}
	s.mu.Unlock()
	if cut {
		return nil, errCut
	}
	c := r.Clone(r.Context())
	c.Body, c.RequestURI = io.NopCloser(bytes.NewReader(body)), r.URL.RequestURI()
	w := httptest.NewRecorder()
	s.serve(w, c, body)
	if w.Code == lost {
		return nil, errCut
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// lost is a response that never arrives.
const lost = 599

// ServeHTTP serves the API and response URLs to an app with another API address than slack.com.
func (s *Slack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxCallSize+1))
	if err != nil {
		return
	}
	s.serve(w, r, body)
}

func (s *Slack) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	switch {
	case !utf8.Valid(body):
		s.mu.Lock()
		s.violate("utf8", path, "a body that is not UTF-8")
		s.mu.Unlock()
		http.Error(w, "invalid_charset", http.StatusBadRequest)
	case strings.HasPrefix(path, "api/"):
		s.api(w, r, strings.TrimPrefix(path, "api/"), body)
	case strings.HasPrefix(path, "commands/"), strings.HasPrefix(path, "actions/"):
		s.respond(w, r, path, body)
	default:
		http.NotFound(w, r)
	}
}

// To returns a client whose net has only this handler: an app within the process.
func To(h http.Handler) *http.Client { return &http.Client{Transport: inside{h}} }

type inside struct{ h http.Handler }

func (i inside) RoundTrip(r *http.Request) (*http.Response, error) {
	q := r.Clone(r.Context())
	q.RequestURI = r.URL.RequestURI()
	if q.Body == nil {
		q.Body = http.NoBody
	}
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		i.h.ServeHTTP(w, q)
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-done:
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}
