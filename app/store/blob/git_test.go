package blob_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"muster/app"
	"muster/app/resource"
	"muster/app/store/blob"
)

// repository is a git repository behind git's own HTTP backend, with a certificate of its own authority, for those with the token.
type repository struct {
	t       *testing.T
	dir     string // the work tree
	ca      string
	url     string
	refused atomic.Int64
}

const gitToken = "t0ken-0f-the-repository"

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("git is not here")
	}
	root := t.TempDir()
	r := &repository{t: t, dir: filepath.Join(root, "site"), ca: filepath.Join(root, "ca.pem")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "--quiet")
	backend := filepath.Join(r.git("--exec-path"), "git-http-backend")
	serve := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if _, password, ok := req.BasicAuth(); !ok || password != gitToken {
			r.refused.Add(1)
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		serve.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(r.ca, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	r.url = srv.URL + "/site/.git"
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "HOME="+r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// tag commits a text and puts the tag there, wherever it was before.
func (r *repository) tag(name, text string) (commit string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "index.html"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", text)
	r.git("tag", "--force", name)
	return r.git("rev-parse", "HEAD")
}

// A repository behind a private authority is read with its token, and by no one without; a tag that has moved returns what it means now.
func TestGitOverHTTPS(t *testing.T) {
	r := newRepository(t)
	first := r.tag("v1", "one")
	open := func(ca string) *blob.Store {
		t.Helper()
		s, err := blob.Open(t.Context(), blob.Config{URL: "mem://", Spool: filepath.Join(t.TempDir(), "spool"), Git: blob.GitOptions{CA: ca}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := open(r.ca)
	fetch := func(ref, credential string) (hash, commit string, err error) {
		t.Helper()
		taken, commit, err := s.Fetch(t.Context(), resource.Source{Git: r.url, Ref: ref}, credential, 1<<20)
		if err != nil {
			return "", "", err
		}
		defer taken.Close()
		files, err := taken.Files(t.Context(), resource.FormatArchive, "site")
		if err != nil || len(files) != 1 || files[0].Path != "index.html" {
			t.Errorf("it holds %+v, %v", files, err)
		}
		return taken.Hash(), commit, nil
	}
	before, commit, err := fetch("v1", gitToken)
	if err != nil || commit != first {
		t.Fatalf("commit %s, %v; want %s", commit, err, first)
	}
	if again, _, err := fetch("v1", "another:"+gitToken); err != nil || again != before {
		t.Errorf("the same commit returns %s, %v; want %s", again, err, before)
	}

	second := r.tag("v1", "two")
	after, commit, err := fetch("v1", gitToken)
	if err != nil || commit != second || after == before {
		t.Errorf("the tag has moved: commit %s, %v; want %s", commit, err, second)
	}
	if old, commit, err := fetch(first, gitToken); err == nil && (old != before || commit != first) {
		t.Errorf("by its commit: %s of %s", old, commit)
	}

	refused := func(what string, err error, field string, says ...string) {
		t.Helper()
		e := app.AsError(err)
		if e.Code != app.EInvalid || e.Field != field {
			t.Errorf("%s: %v, field %q", what, err, e.Field)
		}
		for _, part := range says {
			if !strings.Contains(e.Message, part) {
				t.Errorf("%s: %q does not say %q", what, e.Message, part)
			}
		}
		for text := err; text != nil; text = errors.Unwrap(text) {
			if strings.Contains(text.Error()+e.Hint, "wrong-t0ken") || strings.Contains(text.Error(), gitToken) {
				t.Errorf("%s: the token is reported: %v", what, text)
			}
		}
	}
	for what, credential := range map[string]string{"a wrong token": "wrong-t0ken", "no token": ""} {
		was := r.refused.Load()
		_, _, err := fetch("v1", credential)
		refused(what, err, "git", "was denied")
		if r.refused.Load() == was {
			t.Errorf("%s: no one asked", what)
		}
	}
	_, _, err = fetch("v2", gitToken)
	refused("a tag that is not there", err, "ref", "no such tag")
	s = open("")
	was := r.refused.Load()
	_, _, err = fetch("v1", gitToken)
	refused("an authority that no one trusts", err, "git", "certificate")
	if r.refused.Load() != was {
		t.Error("anyone who is not trusted was asked")
	}
}
