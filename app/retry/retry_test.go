package retry_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app/retry"
)

func TestAgain(t *testing.T) {
	for name, c := range map[string]struct {
		answers []int // 0: the connection is cut
		stream  bool  // the body cannot be read twice
		want    int   // 0: an error
		tries   int64
	}{
		"at once":         {[]int{200}, false, 200, 1},
		"busy":            {[]int{503, 429, 200}, false, 200, 3},
		"busy forever":    {[]int{503, 503, 503, 503}, false, 503, 3},
		"cut":             {[]int{0, 200}, false, 200, 2},
		"refused":         {[]int{403, 200}, false, 403, 1},
		"not implemented": {[]int{501, 200}, false, 501, 1},
		"stream":          {[]int{503, 200}, true, 503, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				status := c.answers[tries.Add(1)-1]
				if body, err := io.ReadAll(r.Body); err != nil || string(body) != "content" {
					t.Errorf("the body is %q, %v", body, err)
				}
				if status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(status)
			}))
			defer srv.Close()
			var body io.Reader = strings.NewReader("content")
			if c.stream {
				body = io.MultiReader(body)
			}
			client := http.Client{Transport: retry.Again(retry.Transport(), 3, time.Millisecond)}
			answer, err := client.Post(srv.URL, "text/plain", body)
			if err == nil {
				_ = answer.Body.Close()
			}
			if c.want != 0 && (err != nil || answer.StatusCode != c.want) || tries.Load() != c.tries {
				t.Errorf("%v, %v after %d tries, want %d after %d", answer, err, tries.Load(), c.want, c.tries)
			}
		})
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer srv.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: retry.Again(retry.Transport(), 3, time.Millisecond)}
	if _, err := client.Do(r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ends with %v", err)
	}
}

func TestUnknownCertificatesAreNotTriedAgain(t *testing.T) {
	var opened atomic.Int64
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = nil
	srv.StartTLS()
	defer srv.Close()
	base := retry.Transport()
	count := roundTrip(func(r *http.Request) (*http.Response, error) { opened.Add(1); return base.RoundTrip(r) })
	client := http.Client{Transport: retry.Again(count, 3, time.Millisecond)}
	if _, err := client.Get(srv.URL); err == nil || opened.Load() != 1 {
		t.Errorf("%v after %d tries", err, opened.Load())
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
