//go:build real

package docker

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/client"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

// tinyRegistry serves one image of one layer over HTTP, which engines take from addresses of their own host, to who knows the password.
type tinyRegistry struct {
	mu     sync.Mutex
	layers int // that were fetched
	blobs  map[string][]byte
	config string
	full   []byte // the manifest
}

func shaOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// newRegistry packs the layer of an engine's image, as docker save returns it.
func newRegistry(t *testing.T, layer []byte) (*tinyRegistry, string) {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(layer)
	_ = z.Close()
	config, _ := json.Marshal(map[string]any{"architecture": "amd64", "os": "linux", "config": map[string]any{}, "rootfs": map[string]any{"type": "layers", "diff_ids": []string{shaOf(layer)}}})
	manifest, _ := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
		"config": map[string]any{"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(config), "digest": shaOf(config)},
		"layers": []any{map[string]any{"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", "size": packed.Len(), "digest": shaOf(packed.Bytes())}}})
	r := &tinyRegistry{blobs: map[string][]byte{shaOf(config): config, shaOf(packed.Bytes()): packed.Bytes()}, config: shaOf(config), full: manifest}
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	return r, strings.TrimPrefix(srv.URL, "http://")
}

func (r *tinyRegistry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	refuse := func(status int, code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"errors":[{"code":"`+code+`","message":"`+strings.ToLower(strings.ReplaceAll(code, "_", " "))+`"}]}`)
	}
	if user, password, _ := q.BasicAuth(); user != "ada" || password != "sesame-open" {
		w.Header().Set("WWW-Authenticate", `Basic realm="tiny"`)
		refuse(401, "UNAUTHORIZED")
		return
	}
	path := q.URL.Path
	_, last, _ := strings.Cut(path, "/node/")
	kind, what, _ := strings.Cut(last, "/")
	switch {
	case path == "/v2/":
		_, _ = io.WriteString(w, "{}")
	case strings.HasPrefix(path, "/v2/busy/"):
		refuse(429, "TOOMANYREQUESTS")
	case kind == "manifests" && (what == "1" || what == shaOf(r.full)):
		w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v2+json")
		w.Header().Set("Docker-Content-Digest", shaOf(r.full))
		_, _ = w.Write(r.full)
	case kind == "blobs" && r.blobs[what] != nil:
		if what != r.config {
			r.mu.Lock()
			r.layers++
			r.mu.Unlock()
		}
		_, _ = w.Write(r.blobs[what])
	default:
		refuse(404, "MANIFEST_UNKNOWN")
	}
}

// A real engine pulls from a registry, by digest too, and builds; what it refuses has its code.
func TestARealEngineFetchesImages(t *testing.T) {
	socket := startEngine(t)
	reg, at := newRegistry(t, layerOf(t, rootFiles(t)))
	begin := func(more ...string) *engine {
		s := map[string]any{"host": "unix://" + socket}
		for i := 0; i+1 < len(more); i += 2 {
			s[more[i]] = more[i+1]
		}
		e, err := open(s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	login := []string{"pull", "missing", "build", "missing", "registry", at, "registry_user", "ada", "registry_password", "sesame-open"}
	may := begin(login...)
	machine := func(t *testing.T, e *engine, name string, image template.Image) ([]string, error) {
		t.Helper()
		s, keys := providertest.Harness{Flavor: "0.5cpu-256mb", Image: image.Image}.Spec(t, name)
		s.Image = image
		var mu sync.Mutex
		var lines []string
		m, err := e.Create(family.WithProgress(t.Context(), func(_ app.Stream, line string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
		}), s)
		if err != nil {
			return lines, err
		}
		t.Cleanup(func() {
			if err := e.Delete(context.Background(), m.ID); err != nil {
				t.Error(err)
			}
		})
		_ = providertest.Dial(t, providertest.Eventually(t, e, m.ID), keys).Close()
		return lines, nil
	}
	built := func(text string) template.Image {
		return template.Image{Image: builtImage, Extra: map[string]string{dockerfile: text}}
	}
	pinned := at + "/node@" + shaOf(reg.full)
	for _, c := range []struct {
		name   string
		engine *engine
		image  template.Image
		code   app.Code
		reason string
		line   string
	}{
		{"without leave", begin(), template.Image{Image: at + "/node:1"}, app.EInvalid, reasonAbsent, ""},
		{"without a password", begin("pull", "missing"), template.Image{Image: at + "/node:1"}, app.ECredentials, reasonRefused, ""},
		{"a tag that is not there", may, template.Image{Image: at + "/node:2"}, app.EInvalid, reasonAbsent, ""},
		{"a registry that has enough of it", may, template.Image{Image: at + "/busy:1"}, app.ERateLimit, "", ""},
		{"a registry that is not there", may, template.Image{Image: "127.0.0.1:1/node:1"}, app.ETransient, "", ""},
		{"a build without leave", begin(), built("FROM " + realImage), app.EInvalid, "", ""},
		{"a build that fails", may, built("FROM " + realImage + "\nRUN echo before && exit 3"), app.EInvalid, "", "before"},
		{"a build", may, built("FROM " + realImage + "\nRUN echo in the build && echo made >/etc/made"), "", "", "in the build"},
		{"an image by its digest", may, template.Image{Image: pinned}, "", "", "Pull complete"},
		{"a build of what was pulled", may, built("FROM " + pinned + " AS one\nRUN echo one >/one\nFROM " + at + "/node:1\nCOPY --from=one /one /two\nRUN cat /two"), "", "", "one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := c.engine.CheckAccount(t.Context(), family.AccountNeeds{Machines: []family.MachineNeed{{Image: c.image}}})
			if last := found[len(found)-1]; err != nil || last.OK != (c.code == "" || c.name == "a build that fails") {
				t.Errorf("the check: %+v, %v", last, err)
			}
			lines, err := machine(t, c.engine, c.name, c.image)
			if a := app.AsError(err); c.code != "" && (err == nil || a.Code != c.code || c.reason != "" && a.Reason != c.reason || a.Hint == "") || c.code == "" && err != nil {
				t.Errorf("%+v", err)
			}
			if c.line != "" && !has(lines, c.line) || has(lines, "sesame-open") {
				t.Errorf("lines: %q", lines)
			}
			if err == nil {
				if again, err := machine(t, c.engine, c.name+" again", c.image); err != nil || len(again) > 0 {
					t.Errorf("the second machine: %v, %q", err, again)
				}
			}
		})
	}
	if reg.layers != 1 {
		t.Errorf("the layer was fetched %d times", reg.layers)
	}
	list, err := may.api.ImageList(t.Context(), client.ImageListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list.Items {
		t.Log(i.RepoTags, i.Size>>20, "MB")
	}
}
