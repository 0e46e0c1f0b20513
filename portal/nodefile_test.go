package portal

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/nodefile/nodefiletest"
)

const filesPath = "/clusters/shop-1/nodes/n1/files"

// newFileSite has cluster shop-1 of ada, whose nodes have files.
func newFileSite(t *testing.T) (*userSite, *nodefiletest.Node) {
	t.Helper()
	w := newUserSite(t)
	if _, err := w.store.CreateCluster(t.Context(), apptest.NewCluster(app.DefaultTenant, "shop", 1, w.clock.now(), apptest.Chain(1))); err != nil {
		t.Fatal(err)
	}
	n, a := nodefiletest.New(t.TempDir()), w.app.NodeAccess
	a.Store, a.Keys, a.SignIn = machines{a.Store}, signs{}, n.Connect
	return w, n
}

// browser sends a request as a browser does, and returns its answer.
func (w *userSite) browser(method, path string, body io.Reader, headers ...string) (*http.Response, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.srv.URL+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	c := *w.http
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := c.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, string(b)
}

// send uploads files, name and content in turn.
func (w *userSite) send(replace bool, headers []string, files ...string) (*http.Response, string) {
	w.t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	if replace {
		_ = m.WriteField("replace", "1")
	}
	for i := 0; i < len(files); i += 2 {
		f, err := m.CreateFormFile("file", files[i])
		if err != nil {
			w.t.Fatal(err)
		}
		_, _ = f.Write([]byte(files[i+1]))
	}
	_ = m.Close()
	return w.browser(http.MethodPost, filesPath, &b, append(headers, "Content-Type", m.FormDataContentType())...)
}

func TestFilesOfANode(t *testing.T) {
	w, n := newFileSite(t)
	w.enter("ada")
	large := strings.Repeat("x", 1<<20) // more than other forms may have
	resp, body := w.send(false, nil, "a.txt", "one", "large", large)
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || to != filesPath+"?path="+url.QueryEscape(n.Home)+"&uploaded=2" {
		t.Fatalf("%d to %s", resp.StatusCode, to)
	}
	if b, err := os.ReadFile(filepath.Join(n.Home, "large")); err != nil || string(b) != large {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	for name, c := range map[string]struct {
		replace bool
		headers []string
		files   []string
		status  int
		says    string
	}{
		"exists":           {false, nil, []string{"a.txt", "two"}, http.StatusConflict, "<strong>" + n.Home + "/a.txt already exists.</strong>"},
		"to a script":      {false, []string{"Muster-Part", "upload"}, []string{"a.txt", "two"}, http.StatusConflict, "/a.txt already exists. To overwrite it"},
		"a path":           {true, nil, []string{"../a.txt", "two"}, http.StatusUnprocessableEntity, "isn&#39;t a name for a file."},
		"no file":          {true, nil, nil, http.StatusUnprocessableEntity, "Choose a file."},
		"another's page":   {true, []string{"Sec-Fetch-Site", "cross-site"}, []string{"a.txt", "two"}, http.StatusForbidden, "came from another site"},
		"script, replaces": {true, []string{"Muster-Part", "upload"}, []string{"b.txt", "new"}, http.StatusNoContent, ""},
	} {
		resp, body := w.send(c.replace, c.headers, c.files...)
		if resp.StatusCode != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d, and the answer lacks %q", name, resp.StatusCode, c.says)
		}
		if b, _ := os.ReadFile(filepath.Join(n.Home, "a.txt")); string(b) != "one" {
			t.Errorf("%s: a.txt has %q", name, b)
		}
	}
	resp, body = w.browser(http.MethodGet, filesPath+"?path=none", nil)
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, "There is no such file.") {
		t.Errorf("a folder that isn't there: %d", resp.StatusCode)
	}
	n.Down(true)
	resp, body = w.browser(http.MethodGet, filesPath, nil)
	if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "The node isn&#39;t responding.") {
		t.Errorf("a node that is down: %d", resp.StatusCode)
	}
}

// Names come from the node. They're text on the page, and files of these names are saved and never shown.
func TestNamesOfANodesFilesAreText(t *testing.T) {
	w, n := newFileSite(t)
	w.enter("ada")
	for name, c := range map[string]struct{ shown, saved string }{
		"<script>alert(1)<script>": {"&lt;script&gt;alert(1)&lt;script&gt;",
			`filename="_script_alert(1)_script_"; filename*=UTF-8''%3Cscript%3Ealert%281%29%3Cscript%3E`},
		"a\r\nSet-Cookie: x=y": {`a\r\nSet-Cookie: x=y`, `filename="a__Set-Cookie_ x=y"`},
		"bad\xff\xfe":          {`bad\xff\xfe`, `filename="bad_"`},
		"\u202egpj.exe":        {`\u202egpj.exe`, `filename="_gpj.exe"`},
		`q"uote;.txt`:          {`q&#34;uote;.txt`, `filename="q_uote_.txt"; filename*=UTF-8''q%22uote%3B.txt`},
		"ünï cödé.txt":         {"ünï cödé.txt", `filename="_n_ c_d_.txt"; filename*=UTF-8''%C3%BCn%C3%AF%20c%C3%B6d%C3%A9.txt`},
		"page.html":            {"page.html", `filename="page.html"`},
		"...":                  {"...", `filename="download"; filename*=UTF-8''...`},
	} {
		file := filepath.Join(n.Home, name)
		if err := os.WriteFile(file, []byte("<b>content"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, body := w.browser(http.MethodGet, filesPath, nil)
		if !strings.Contains(body, `data-kind="file">`+c.shown+"</span>") {
			t.Errorf("%q isn't shown as %s", name, c.shown)
		}
		link := filesPath + "/download?path=" + url.QueryEscape(file)
		if !strings.Contains(body, `href="`+link+`"`) {
			t.Errorf("%q has no link %s", name, link)
		}
		resp, body := w.browser(http.MethodGet, link, nil)
		if h := resp.Header; resp.StatusCode != http.StatusOK || body != "<b>content" || h.Get("Content-Disposition") != "attachment; "+c.saved ||
			h.Get("Content-Type") != "application/octet-stream" || h.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%q: %d %q with %q", name, resp.StatusCode, body, h)
		}
		_ = os.Remove(file)
	}
	resp, _ := w.browser(http.MethodGet, filesPath+"/download?path=none", nil)
	if resp.StatusCode != http.StatusNotFound || resp.Header.Get("Content-Disposition") != "" {
		t.Errorf("a file that isn't there: %d", resp.StatusCode)
	}
	if resp, _ := w.browser(http.MethodHead, filesPath+"/download?path=none", nil); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %d", resp.StatusCode)
	}
}

// A browser that leaves in the middle leaves nothing on the node.
func TestACutOffFormLeavesNothing(t *testing.T) {
	w, n := newFileSite(t)
	w.enter("ada")
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"part\"\r\n\r\nhalf of it"
	resp, _ := w.browser(http.MethodPost, filesPath, strings.NewReader(form), "Content-Type", "multipart/form-data; boundary=b")
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a form that is cut off: %d", resp.StatusCode)
	}
	if left, err := os.ReadDir(n.Home); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestFilesAreForThoseWhoUseTheCluster(t *testing.T) {
	w, n := newFileSite(t)
	if err := os.WriteFile(filepath.Join(n.Home, "f"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for user, status := range map[string]int{"eve": http.StatusNotFound, "vera": http.StatusForbidden} {
		o := w.another().enter(user)
		if resp, _ := o.browser(http.MethodGet, filesPath+"/download?path=f", nil); resp.StatusCode != status {
			t.Errorf("a download by %s: %d", user, resp.StatusCode)
		}
		if resp, _ := o.send(true, nil, "f", "x"); resp.StatusCode != status {
			t.Errorf("an upload by %s: %d", user, resp.StatusCode)
		}
		if resp, body := o.browser(http.MethodGet, filesPath, nil); resp.StatusCode < 400 || strings.Contains(body, `data-file="f"`) {
			t.Errorf("the list for %s: %d", user, resp.StatusCode)
		}
	}
	if resp, _ := w.another().browser(http.MethodGet, filesPath+"/download?path=f", nil); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("a download without a sign-in: %d", resp.StatusCode)
	}
	if b, _ := os.ReadFile(filepath.Join(n.Home, "f")); string(b) != "text" || len(n.Targets) > 0 {
		t.Errorf("%q after %d connections", b, len(n.Targets))
	}
}
