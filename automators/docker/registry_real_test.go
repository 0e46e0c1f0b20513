//go:build real

package docker_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The closed registry lets this user in.
const (
	realUser     = "puller"
	realPassword = "r3g1stry-pa55word"
)

// registry is as much of an image registry as a pull needs: manifests and blobs, for everyone at one address, and for those with a password at another.
type registry struct {
	host      string // for everyone
	closed    string // for those with a password
	blobs     map[string][]byte
	manifests map[string]string // by repository:tag, the digest
}

// startRegistry offers images of the program in testdata/app: app:1, app:unhealthy, whose health check fails, and app:well, whose passes.
func startRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{blobs: map[string][]byte{}, manifests: map[string]string{}}
	program := filepath.Join(t.TempDir(), "app")
	build := exec.Command("go", "build", "-o", program, "./testdata/app")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var layer, packed bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, h := range []struct {
		name    string
		mode    int64
		content []byte
	}{{"app", 0o755, b}, {"etc/passwd", 0o644, []byte("root:x:0:0:root:/:/app\n")}} {
		if err := w.WriteHeader(&tar.Header{Name: h.name, Mode: h.mode, Size: int64(len(h.content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(h.content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	_, _ = z.Write(layer.Bytes())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(layer.Bytes())
	for name, check := range map[string]string{"app:1": "", "app:unhealthy": "ill", "app:well": "well"} {
		config := map[string]any{"Entrypoint": []string{"/app"}, "Labels": map[string]string{"name": name}}
		if check != "" {
			config["Healthcheck"] = map[string]any{"Test": []string{"CMD", "/app", check}, "Interval": 2e8, "Timeout": 5e9, "Retries": 2}
		}
		image, err := json.Marshal(map[string]any{"architecture": architecture(t), "os": "linux", "config": config, "rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}}})
		if err != nil {
			t.Fatal(err)
		}
		part := func(kind string, content []byte) map[string]any {
			return map[string]any{"mediaType": "application/vnd.docker." + kind, "size": len(content), "digest": r.put(content)}
		}
		manifest, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": part("container.image.v1+json", image),
			"layers": []any{part("image.rootfs.diff.tar.gzip", packed.Bytes())}})
		if err != nil {
			t.Fatal(err)
		}
		r.manifests[name] = r.put(manifest)
	}
	open, closed := httptest.NewServer(r), httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if user, password, _ := q.BasicAuth(); user != realUser || password != realPassword {
			w.Header().Set("WWW-Authenticate", `Basic realm="tests"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.ServeHTTP(w, q)
	}))
	t.Cleanup(open.Close)
	t.Cleanup(closed.Close)
	r.host, r.closed = strings.TrimPrefix(open.URL, "http://"), strings.TrimPrefix(closed.URL, "http://")
	return r
}

const manifestType = "application/vnd.docker.distribution.manifest.v2+json"

func architecture(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOARCH").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (r *registry) put(content []byte) (digest string) {
	sum := sha256.Sum256(content)
	digest = "sha256:" + hex.EncodeToString(sum[:])
	r.blobs[digest] = content
	return digest
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	path := strings.TrimPrefix(q.URL.Path, "/v2/")
	kind := "application/octet-stream"
	var digest string
	if repository, tag, ok := strings.Cut(path, "/manifests/"); ok {
		kind = manifestType
		if digest = tag; !strings.HasPrefix(tag, "sha256:") {
			digest = r.manifests[repository+":"+tag]
		}
	} else if _, digest, ok = strings.Cut(path, "/blobs/"); !ok {
		return // /v2/
	}
	content, ok := r.blobs[digest]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Docker-Content-Digest", digest)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	if q.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}
