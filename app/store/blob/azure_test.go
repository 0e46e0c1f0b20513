//go:build !small

package blob_test

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/store/blob"
)

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
		s.parts[name+" "+q.Get("blockid")] = body
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut && q.Get("comp") == "blocklist":
		var list struct{ Latest []string }
		if err := xml.Unmarshal(body, &list); err != nil {
			s.t.Errorf("a list of blocks: %v: %s", err, body)
		}
		var all []byte
		for _, id := range list.Latest {
			all = append(all, s.parts[name+" "+id]...)
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

func azureServer(t *testing.T) (s *stored, domain string) {
	s = newStored(t)
	srv := httptest.NewServer(http.HandlerFunc(s.azure))
	t.Cleanup(srv.Close)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acme")
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("the key of the account")))
	return s, strings.TrimPrefix(srv.URL, "http://")
}

func TestAzure(t *testing.T) {
	s, domain := azureServer(t)
	for name, env := range map[string]map[string]string{"key": nil,
		"connection string": {"AZURE_STORAGE_ACCOUNT": "", "AZURE_STORAGE_KEY": "",
			"AZURE_STORAGE_CONNECTION_STRING": "DefaultEndpointsProtocol=http;AccountName=acme;AccountKey=" +
				base64.StdEncoding.EncodeToString([]byte("the key of the account")) + ";BlobEndpoint=http://" + domain + "/acme"}} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range env {
				t.Setenv(variable, value)
			}
			s.deny, s.writes = false, 0
			clear(s.all)
			tryBackend(t, openAt(t, "azblob://things?protocol=http&domain="+url.QueryEscape(domain)), s)
		})
	}
}

func TestLargeBlobInAzure(t *testing.T) {
	_, domain := azureServer(t)
	tryLarge(t, openAt(t, "azblob://things?protocol=http&domain="+url.QueryEscape(domain)), 20<<20)
}

// A signature in the environment is only sent to the host that the environment names.
func TestAzureSignatureIsStable(t *testing.T) {
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acme")
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sig=secret")
	_, err := blob.Open(t.Context(), blob.Config{URL: "azblob://things?domain=example.com", Spool: path.Join(t.TempDir(), "spool")})
	if app.CodeOf(err) != app.EInvalid || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	openAt(t, "azblob://things")
}

func TestInvalidAzureURLs(t *testing.T) {
	wrongURLs(t, "azblob://things")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acme")
	wrongURLs(t, "azblob://", "azblob://things/below", "azblob://things?color=blue", "azblob://things?cdn=maybe", "azblob://things?localemu=maybe",
		"azblob://things?protocol=ftp", "azblob://things?domain=a&domain=b")
}
