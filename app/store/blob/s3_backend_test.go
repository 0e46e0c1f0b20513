//go:build !small

package blob_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/store/blob"
)

// s3 is S3 as far as a store asks for it, with addresses by path.
func (s *stored) s3(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(status int, code string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `<Error><Code>%s</Code></Error>`, code)
	}
	q := r.URL.Query()
	name := strings.TrimPrefix(r.URL.Path, "/things/")
	content, there := s.all[name]
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it was cut off
	}
	w.Header().Set("ETag", `"1"`)
	switch part := name + " " + q.Get("uploadId") + " " + q.Get("partNumber"); {
	case s.deny, !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKID/"):
		refuse(http.StatusForbidden, "AccessDenied")
	case s.busy > 0:
		s.busy--
		refuse(http.StatusServiceUnavailable, "SlowDown")
	case q.Get("list-type") == "2":
		s.list(w, q.Get("prefix"))
	case r.Method == http.MethodPost && q.Has("uploads"):
		fmt.Fprint(w, `<InitiateMultipartUploadResult><UploadId>up</UploadId></InitiateMultipartUploadResult>`)
	case r.Method == http.MethodPut && q.Has("partNumber"):
		s.parts[part] = body
	case r.Method == http.MethodPost && q.Get("uploadId") == "up":
		var all []byte
		for i := range bytes.Count(body, []byte("<PartNumber>")) {
			all = append(all, s.parts[fmt.Sprintf("%s up %d", name, i+1)]...)
		}
		s.write(name, all)
		fmt.Fprint(w, `<CompleteMultipartUploadResult><ETag>"1"</ETag></CompleteMultipartUploadResult>`)
	case r.Method == http.MethodPut:
		s.write(name, body)
	case r.Method == http.MethodDelete && q.Has("uploadId"):
		clear(s.parts)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodDelete:
		delete(s.all, name)
		w.WriteHeader(http.StatusNoContent)
	case !there:
		refuse(http.StatusNotFound, "NoSuchKey")
	default:
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(content))
	}
}

func (s *stored) list(w io.Writer, prefix string) {
	type entry struct {
		Key          string
		LastModified string
		Size         int
	}
	var list struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []entry
	}
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		if strings.HasPrefix(name, prefix) {
			list.Contents = append(list.Contents, entry{name, "2026-01-01T00:00:00Z", len(s.all[name])})
		}
	}
	_ = xml.NewEncoder(w).Encode(list)
}

// plainS3 are the parameters for a server that only resembles S3; its address follows.
const plainS3 = "region=eu-test-1&use_path_style=true&request_checksum_calculation=when_required&response_checksum_validation=when_required&endpoint="

func s3Server(t *testing.T) (*stored, string) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	s := newStored(t)
	srv := httptest.NewServer(http.HandlerFunc(s.s3))
	t.Cleanup(srv.Close)
	return s, "s3://things?" + plainS3 + srv.URL
}

func TestS3(t *testing.T) {
	at, where := s3Server(t)
	tryBackend(t, openAt(t, where), at)
}

func TestLargeBlobInS3(t *testing.T) {
	at, where := s3Server(t)
	s := openAt(t, where)
	at.busy = 1
	tryLarge(t, s, 64<<20+10)
	if len(at.parts) != 2 {
		t.Errorf("it was sent in %d parts, want 2", len(at.parts))
	}
}

func TestMissingS3Credentials(t *testing.T) {
	_, where := s3Server(t)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	if _, err := openAt(t, where).Has(t.Context(), "acme/a"); app.CodeOf(err) != app.ECredentials {
		t.Error(err)
	}
}

// tryLarge keeps a content that is sent in parts where the place has parts.
func tryLarge(t *testing.T, s *blob.Store, size int) {
	t.Helper()
	content := bytes.Repeat([]byte("0123456789abcde\n"), size/16+1)[:size]
	if err := s.Put(t.Context(), "acme/large", int64(size), bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), "acme/large", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d of %d bytes are read, %v", len(got), size, err)
	}
}
