package blob_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/store/blob"
)

// stored is what a stand-in for a cloud keeps, by name.
type stored struct {
	t      *testing.T
	mu     sync.Mutex
	all    map[string][]byte
	parts  map[string][]byte // that are not put together yet
	writes int
	deny   bool
	busy   int // so many answers say that it is
	cut    int // so many uploads break off
	status int // of every answer; 0: what fits
}

func newStored(t *testing.T) *stored {
	return &stored{t: t, all: map[string][]byte{}, parts: map[string][]byte{}}
}

func (s *stored) write(name string, content []byte) { s.all[name], s.writes = content, s.writes+1 }

// gcs is the JSON API of Google Cloud Storage as far as a store asks for it.
func (s *stored) gcs(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(status int) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error": {"code": %d, "message": "refused"}}`, status)
	}
	about := func(name string) map[string]any {
		return map[string]any{"kind": "storage#object", "name": name, "bucket": "things", "size": fmt.Sprint(len(s.all[name])), "generation": "1",
			"updated": "2026-01-01T00:00:00Z"}
	}
	tell := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	objects := "/storage/v1/b/things/o"
	name := strings.TrimPrefix(r.URL.Path, objects+"/")
	_, there := s.all[name]
	switch {
	case s.deny:
		refuse(http.StatusForbidden)
	case s.busy > 0:
		s.busy--
		refuse(http.StatusServiceUnavailable)
	case s.status != 0:
		refuse(s.status)
	case r.Method == http.MethodPost && r.URL.Path == "/upload"+objects:
		q := r.URL.Query()
		if q.Get("uploadType") != "media" || q.Get("name") == "" || r.ContentLength < 0 || r.Header.Get("Content-Type") != "application/octet-stream" {
			s.t.Errorf("an upload of %d bytes of %q, %q", r.ContentLength, r.Header.Get("Content-Type"), r.URL.RawQuery)
			refuse(http.StatusBadRequest)
			return
		}
		if s.cut > 0 {
			s.cut--
			_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
			panic(http.ErrAbortHandler)
		}
		content, err := io.ReadAll(r.Body)
		if err != nil {
			return // it was cut off
		}
		s.write(q.Get("name"), content)
		tell(about(q.Get("name")))
	case r.Method == http.MethodGet && r.URL.Path == objects:
		var items []any
		next := ""
		for _, name := range slices.Sorted(maps.Keys(s.all)) { // two on a page
			switch q := r.URL.Query(); {
			case !strings.HasPrefix(name, q.Get("prefix")) || name < q.Get("pageToken"):
			case len(items) < 2:
				items = append(items, about(name))
			case next == "":
				next = name
			}
		}
		tell(map[string]any{"kind": "storage#objects", "items": items, "nextPageToken": next})
	case !strings.HasPrefix(r.URL.Path, objects+"/"):
		s.t.Errorf("asked for %s %s", r.Method, r.URL)
		refuse(http.StatusBadRequest)
	case !there:
		refuse(http.StatusNotFound)
	case r.Method == http.MethodGet && r.URL.Query().Get("alt") == "media":
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(s.all[name]))
	case r.Method == http.MethodGet:
		tell(about(name))
	case r.Method == http.MethodDelete:
		delete(s.all, name)
		w.WriteHeader(http.StatusNoContent)
	}
}

func openAt(t *testing.T, where string) *blob.Store {
	t.Helper()
	dir := t.TempDir()
	s, err := blob.Open(t.Context(), blob.Config{URL: where, Dir: path.Join(dir, "kept"), Spool: path.Join(dir, "spool")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func google(t *testing.T) (*stored, *blob.Store) {
	s := newStored(t)
	srv := httptest.NewServer(http.HandlerFunc(s.gcs))
	t.Cleanup(srv.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(srv.URL, "http://"))
	return s, openAt(t, "gs://things")
}

// Every kind of place keeps, returns, lists and removes contents: those in clouds against stand-ins that know what they are asked.
func TestBackends(t *testing.T) {
	t.Run("mem", func(t *testing.T) { tryBackend(t, openAt(t, "mem://"), nil) })
	t.Run("file", func(t *testing.T) { tryBackend(t, openAt(t, ""), nil) })
	t.Run("gs", func(t *testing.T) {
		at, s := google(t)
		tryBackend(t, s, at)
	})
}

func wrongURLs(t *testing.T, all ...string) {
	t.Helper()
	for _, where := range all {
		s, err := blob.Open(t.Context(), blob.Config{URL: where, Spool: path.Join(t.TempDir(), "spool")})
		if app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "MUSTER_BLOB_URL" {
			t.Errorf("%s: %v, %v", where, s, err)
		}
	}
}

func TestInvalidURLs(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1")
	wrongURLs(t, "ftp://place", "://", "mem://?color=blue", "gs://", "gs://things/below", "gs://things?color=blue", "gs://things?anonymous=maybe",
		"gs://things?universe_domain=a&universe_domain=b",
		"file:///nowhere/at/all", "file:///tmp?color=blue", "file:///tmp?metadata=some", "file:///tmp?dir_file_mode=wide")
}

// Google's answers are distinguished: a bucket that may not be looked at is not an empty one.
func TestGoogleErrors(t *testing.T) {
	at, s := google(t)
	for status, want := range map[int]app.Code{http.StatusUnauthorized: app.ECredentials, http.StatusForbidden: app.ECredentials,
		http.StatusNotImplemented: app.ETransient} {
		at.status = status
		_, has := s.Has(t.Context(), "acme/a")
		_, open := s.Open(t.Context(), "acme/a", 0)
		list := s.List(t.Context(), "acme/", func(string, time.Time) error { return nil })
		for what, err := range map[string]error{"has": has, "open": open, "list": list, "delete": s.Delete(t.Context(), "acme/a")} {
			if app.CodeOf(err) != want {
				t.Errorf("%s with %d: %v, want %s", what, status, err, want)
			}
		}
	}
	at.status = http.StatusNotFound // the bucket is not there
	if is, err := s.Has(t.Context(), "acme/a"); is || err != nil {
		t.Errorf("%t, %v", is, err)
	}
	if _, err := s.Open(t.Context(), "acme/a", 0); app.CodeOf(err) != app.ENotFound {
		t.Errorf("open: %v", err)
	}
	err := s.Put(t.Context(), "acme/a", 1, strings.NewReader("x"))
	if app.CodeOf(err) != app.ETransient || !strings.Contains(app.AsError(err).Message, "blob store") {
		t.Errorf("put: %v", err)
	}
}

func TestMissingGoogleCredentials(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
	if _, err := blob.Open(t.Context(), blob.Config{URL: "gs://things", Spool: path.Join(t.TempDir(), "spool")}); app.CodeOf(err) != app.ECredentials {
		t.Error(err)
	}
	openAt(t, "gs://things?anonymous=true")
}

// What is busy or breaks off is asked again, and half a content is never seen.
func TestGoogleIsRetried(t *testing.T) {
	at, s := google(t)
	content := strings.Repeat("x", 1<<20)
	at.busy, at.cut = 1, 1
	err := s.Put(t.Context(), "acme/a", int64(len(content)), strings.NewReader(content))
	if err != nil || at.busy != 0 || at.cut != 0 || at.writes != 1 || len(at.all["acme/a"]) != len(content) {
		t.Errorf("%v, written %d times, %d bytes", err, at.writes, len(at.all["acme/a"]))
	}
	at.cut = 100
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := s.Put(ctx, "acme/b", int64(len(content)), strings.NewReader(content)); app.CodeOf(err) != app.ETimeout {
		t.Errorf("an upload that always breaks off: %v", err)
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if _, there := at.all["acme/b"]; there {
		t.Error("half a content is there")
	}
}

func TestGooglePages(t *testing.T) {
	at, s := google(t)
	for _, name := range []string{"acme/a", "acme/b", "acme/c", "acme/d", "acme/e", "acme/", "acme/with space", "acme/x__0x2f__y", "other/a"} {
		at.write(name, []byte("x"))
	}
	if names := listed(t, s, "acme/"); strings.Join(names, " ") != "acme/a acme/b acme/c acme/d acme/e" {
		t.Errorf("listed: %q", names)
	}
	stop := errors.New("stop")
	if err := s.List(t.Context(), "acme/", func(string, time.Time) error { return stop }); err != stop {
		t.Errorf("a caller's own error: %v", err)
	}
}

func tryBackend(t *testing.T, s *blob.Store, at *stored) {
	t.Helper()
	if strings.Contains(s.Name(), "the key") || strings.Contains(s.Name(), "?") {
		t.Errorf("it is called %s", s.Name())
	}
	ctx := t.Context()
	content := bytes.Repeat([]byte("0123456789abcdef"), 20<<10)
	size := int64(len(content))
	const name = "acme/sha256-1"
	reads := func(from int64, want []byte) {
		t.Helper()
		r, err := s.Open(ctx, name, from)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("from %d on %d bytes are read, %v; want %d", from, len(got), err, len(want))
		}
	}
	there := func(want bool) {
		t.Helper()
		if is, err := s.Has(ctx, name); err != nil || is != want {
			t.Errorf("it is there: %t, %v; want %t", is, err, want)
		}
	}
	there(false)
	if err := s.Put(ctx, name, size+1, bytes.NewReader(content)); err == nil {
		t.Error("less than was said is taken")
	}
	there(false)
	if err := s.Put(ctx, name, size, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	there(true)
	reads(0, content)
	reads(size-5, content[size-5:])
	if err := s.Put(ctx, name, size, strings.NewReader("is not even read")); err != nil {
		t.Errorf("what is there: %v", err)
	}
	keep := func() {
		t.Helper()
		taken, err := s.Take(ctx, bytes.NewReader(content), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		if err := taken.Keep(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	keep()
	if at != nil {
		if at.writes != 1 {
			t.Errorf("it was written %d times", at.writes)
		}
		at.mu.Lock()
		at.all[name] = bytes.Repeat([]byte("x"), len(content)) // of the same size
		at.mu.Unlock()
		keep()
		if at.writes != 2 {
			t.Errorf("what was changed was written %d times", at.writes)
		}
		reads(0, content)
	}
	if err := s.Put(ctx, "other/sha256-2", 1, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := s.List(ctx, "acme/", func(n string, at time.Time) error {
		names = append(names, n)
		if at.IsZero() {
			t.Errorf("%s has no time", n)
		}
		return nil
	}); err != nil || !slices.Equal(names, []string{name}) {
		t.Errorf("listed: %q, %v", names, err)
	}
	if err := s.Probe(ctx); err != nil {
		t.Errorf("probed: %v", err)
	}
	for range 2 {
		if err := s.Delete(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	there(false)
	if r, err := s.Open(ctx, name, 0); app.CodeOf(err) != app.ENotFound {
		t.Errorf("what is gone: %v, %v", r, err)
	}
	if at == nil {
		return
	}
	at.mu.Lock()
	at.deny = true
	at.mu.Unlock()
	_, has := s.Has(ctx, name)
	_, opened := s.Open(ctx, name, 0)
	for what, err := range map[string]error{"put": s.Put(ctx, name, size, bytes.NewReader(content)), "has": has, "open": opened, "delete": s.Delete(ctx, name)} {
		if app.CodeOf(err) != app.ECredentials {
			t.Errorf("%s without the right: %v", what, err)
		}
	}
}
