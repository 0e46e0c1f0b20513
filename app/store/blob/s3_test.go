//go:build !small

package blob_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/app/store/blob"
)

// objects are S3 as far as it is needed for one object after the other.
type objects struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.Method == http.MethodPut {
		body := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		o.all[r.URL.Path] = body
		w.Header().Set("ETag", `"1"`)
		return
	}
	body, ok := o.all[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", `"1"`)
	http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(body))
}

// A connection to S3 continues to be used after each upload: what the SDK does to a body that was sent does not cut it.
func TestS3ConnectionsAreReused(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	var opened atomic.Int64
	srv := httptest.NewUnstartedServer(&objects{all: map[string][]byte{}})
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	s, err := blob.Open(t.Context(), blob.Config{URL: "s3://bucket?" + plainS3 + srv.URL, Spool: dir + "/spool"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	const n = 40
	for i := range n {
		content := make([]byte, 256<<10)
		_, _ = rand.Read(content)
		name := fmt.Sprintf("sha256/%d", i)
		if err := s.Put(t.Context(), name, int64(len(content)), bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context(), name, 0)
		if err != nil {
			t.Fatal(err)
		}
		back, err := io.ReadAll(r)
		if _ = r.Close(); err != nil || !bytes.Equal(back, content) {
			t.Fatalf("%d of %d bytes come back, %v", len(back), len(content), err)
		}
	}
	if got := opened.Load(); got > 2 { // one, and one more where the host is so busy that it comes back too late
		t.Errorf("%d connections for %d contents one after the other, want 1", got, n)
	}
}

func TestInvalidS3URLs(t *testing.T) {
	for _, wrong := range []string{"ssetype=none", "use_path_style=maybe", "s3ForcePathStyle=maybe", "disable_https=maybe", "accelerate=maybe", "color=blue",
		"region=a&region=b", "anonymous=maybe", "fips=maybe",
		"dualstack=maybe", "hostname_immutable=maybe", "rate_limiter_capacity=few", "role=me", "request_checksum_calculation=never",
		"response_checksum_validation=never"} {
		wrongURLs(t, "s3://bucket?region=eu-test-1&"+wrong)
	}
	wrongURLs(t, "s3://?region=eu-test-1", "s3://bucket/below?region=eu-test-1")
}
