package blob_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/blob"
)

// stored is what a stand-in for a cloud keeps, by name.
type stored struct {
	t      *testing.T
	mu     sync.Mutex
	all    map[string][]byte
	blocks map[string][]byte // of Azure, until they are listed
	writes int
	deny   bool
}

func newStored(t *testing.T) *stored {
	return &stored{t: t, all: map[string][]byte{}, blocks: map[string][]byte{}}
}

func (s *stored) write(name string, content []byte) { s.all[name], s.writes = content, s.writes+1 }

// gcs is Google Cloud Storage as far as a store asks for it: the JSON API, and reads by the XML API.
func (s *stored) gcs(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(status int) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error": {"code": %d, "message": "refused"}}`, status)
	}
	about := func(name string) map[string]any {
		return map[string]any{"kind": "storage#object", "name": name, "bucket": "things", "size": fmt.Sprint(len(s.all[name])), "generation": "1", "updated": "2026-01-01T00:00:00Z"}
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
	case r.Method == http.MethodPost && r.URL.Path == "/upload"+objects:
		kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || kind != "multipart/related" || r.URL.Query().Get("uploadType") != "multipart" {
			s.t.Errorf("an upload as %q, %q: %v", kind, r.URL.RawQuery, err)
			refuse(http.StatusBadRequest)
			return
		}
		parts := multipart.NewReader(r.Body, params["boundary"])
		var object struct{ Name string }
		var content []byte
		if p, e := parts.NextPart(); e == nil {
			err = json.NewDecoder(p).Decode(&object)
		}
		if p, e := parts.NextPart(); e == nil && err == nil {
			content, err = io.ReadAll(p)
		}
		if _, e := parts.NextPart(); err != nil || e != io.EOF {
			return // it was cut off
		}
		s.write(object.Name, content)
		tell(about(object.Name))
	case r.Method == http.MethodGet && r.URL.Path == objects:
		var items []any
		for _, name := range slices.Sorted(maps.Keys(s.all)) {
			if strings.HasPrefix(name, r.URL.Query().Get("prefix")) {
				items = append(items, about(name))
			}
		}
		tell(map[string]any{"kind": "storage#objects", "items": items})
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/things/"):
		content, ok := s.all[strings.TrimPrefix(r.URL.Path, "/things/")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("X-Goog-Generation", "1")
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(content))
	case !strings.HasPrefix(r.URL.Path, objects+"/"):
		s.t.Errorf("asked for %s %s", r.Method, r.URL)
		refuse(http.StatusBadRequest)
	case !there:
		refuse(http.StatusNotFound)
	case r.Method == http.MethodGet:
		tell(about(name))
	case r.Method == http.MethodDelete:
		delete(s.all, name)
		w.WriteHeader(http.StatusNoContent)
	}
}

// azure is Azure Blob Storage as far as a store asks for it.
func (s *stored) azure(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(status int, code string) {
		w.Header().Set("x-ms-error-code", code)
		w.WriteHeader(status)
	}
	const container = "/acme/things"
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, container), "/")
	content, there := s.all[name]
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it was cut off
	}
	q := r.URL.Query()
	w.Header().Set("x-ms-request-id", "1")
	w.Header().Set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
	w.Header().Set("ETag", `"1"`)
	w.Header().Set("x-ms-creation-time", "Thu, 01 Jan 2026 00:00:00 GMT")
	switch {
	case s.deny, !strings.HasPrefix(r.Header.Get("Authorization"), "SharedKey acme:"):
		refuse(http.StatusForbidden, "AuthenticationFailed")
	case !strings.HasPrefix(r.URL.Path, container):
		s.t.Errorf("asked for %s %s", r.Method, r.URL)
		refuse(http.StatusBadRequest, "InvalidUri")
	case name == "" && q.Get("comp") == "list":
		type entry struct {
			Name       string
			Properties struct {
				LastModified  string `xml:"Last-Modified"`
				ContentLength int    `xml:"Content-Length"`
				BlobType      string
			}
		}
		var list struct {
			XMLName xml.Name `xml:"EnumerationResults"`
			Blobs   struct{ Blob []entry }
		}
		for _, name := range slices.Sorted(maps.Keys(s.all)) {
			if strings.HasPrefix(name, q.Get("prefix")) {
				e := entry{Name: name}
				e.Properties.LastModified, e.Properties.ContentLength, e.Properties.BlobType = "Thu, 01 Jan 2026 00:00:00 GMT", len(s.all[name]), "BlockBlob"
				list.Blobs.Blob = append(list.Blobs.Blob, e)
			}
		}
		w.Header().Set("Content-Type", "application/xml")
		_ = xml.NewEncoder(w).Encode(list)
	case r.Method == http.MethodPut && q.Get("comp") == "block":
		s.blocks[name+" "+q.Get("blockid")] = body
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut && q.Get("comp") == "blocklist":
		var list struct{ Latest []string }
		if err := xml.Unmarshal(body, &list); err != nil {
			s.t.Errorf("a list of blocks: %v: %s", err, body)
		}
		var all []byte
		for _, id := range list.Latest {
			all = append(all, s.blocks[name+" "+id]...)
		}
		s.write(name, all)
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut:
		if r.Header.Get("x-ms-blob-type") != "BlockBlob" {
			s.t.Errorf("it is to be a %q", r.Header.Get("x-ms-blob-type"))
		}
		s.write(name, body)
		w.WriteHeader(http.StatusCreated)
	case !there:
		refuse(http.StatusNotFound, "BlobNotFound")
	case r.Method == http.MethodDelete:
		delete(s.all, name)
		w.WriteHeader(http.StatusAccepted)
	default:
		if rng := r.Header.Get("x-ms-range"); rng != "" {
			r.Header.Set("Range", rng)
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// Every kind of place keeps, gives, lists and removes contents by our own code: Google's and Azure's against stand-ins that know what they are asked.
func TestPlaces(t *testing.T) {
	google, azure := newStored(t), newStored(t)
	g, a := httptest.NewServer(http.HandlerFunc(google.gcs)), httptest.NewServer(http.HandlerFunc(azure.azure))
	t.Cleanup(g.Close)
	t.Cleanup(a.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(g.URL, "http://"))
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acme")
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("the key of the account")))
	domain := url.QueryEscape(strings.TrimPrefix(a.URL, "http://"))
	for name, place := range map[string]struct {
		url string
		at  *stored // nil: no stand-in
	}{"mem": {"mem://", nil}, "file": {"", nil}, "gs": {"gs://things", google}, "azblob": {"azblob://things?protocol=http&domain=" + domain, azure}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := blob.Open(t.Context(), blob.Config{URL: place.url, Dir: path.Join(dir, "kept"), Spool: path.Join(dir, "spool")})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			tryPlace(t, s, place.at)
			if strings.Contains(s.Name(), "the key") || strings.Contains(s.Name(), "?") {
				t.Errorf("it is called %s", s.Name())
			}
		})
	}
}

func tryPlace(t *testing.T, s *blob.Store, at *stored) {
	t.Helper()
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
