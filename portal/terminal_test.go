package portal

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/family"
	"muster/app/identity"
	"muster/app/sshaccess"
	"muster/app/terminal"

	"github.com/gorilla/websocket"
	"muster/app/sharing"
)

// echoNode is a node whose terminals show what is typed.
type echoNode struct{ gone chan struct{} }

func (e echoNode) Run(context.Context, family.Command, family.Output) (int, error) { return 1, nil }
func (e echoNode) Put(context.Context, string, fs.FileMode, io.Reader) error       { return nil }
func (e echoNode) Done() <-chan struct{}                                           { return e.gone }
func (e echoNode) Close() error                                                    { return nil }
func (e echoNode) Terminal(context.Context, family.TerminalOptions) (family.Terminal, error) {
	r, w := io.Pipe()
	return echoTerminal{r, w}, nil
}

type echoTerminal struct {
	*io.PipeReader
	w *io.PipeWriter
}

func (t echoTerminal) Write(b []byte) (int, error)      { go t.w.Write(slices.Clone(b)); return len(b), nil }
func (t echoTerminal) Resize(family.TerminalSize) error { return nil }
func (t echoTerminal) Close() error                     { return t.w.CloseWithError(io.EOF) }

// signs signs certificates.
type signs struct{ harness.Keys }

func (signs) SignCertificate([]byte, app.CertificateOrder) (app.SignedCertificate, error) {
	return app.SignedCertificate{Line: "signed"}, nil
}

// machines lets all nodes have a machine.
type machines struct{ sshaccess.Store }

func (m machines) Nodes(ctx context.Context, tenant, cluster string) ([]app.Node, error) {
	list, err := m.Store.Nodes(ctx, tenant, cluster)
	for i := range list {
		list[i].Status, list[i].HostKey, list[i].Addresses = app.NodeReady, "host key", map[string]string{app.AddressAccess: "10.0.0.1"}
	}
	return list, err
}

// newTerminalSite has cluster shop-1 of ada, with nodes on which terminals can be opened.
func newTerminalSite(t *testing.T) *userSite {
	t.Helper()
	w := newUserSite(t)
	n := apptest.NewCluster(app.DefaultTenant, "shop", 1, w.clock.now(), apptest.Chain(1))
	if _, err := w.store.CreateCluster(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	a := w.app.NodeAccess
	a.Store, a.Keys = machines{a.Store}, signs{}
	a.SignIn = func(context.Context, family.NodeTarget) (family.NodeConnection, error) {
		return echoNode{make(chan struct{})}, nil
	}
	t.Cleanup(w.app.Terminal.Close)
	return w
}

const terminalPath = "/clusters/shop-1/nodes/n1/terminal/stream"

// dial opens a stream as a browser does; nil where it's refused.
func (w *userSite) dial(path string, headers ...string) (*websocket.Conn, *http.Response) {
	w.t.Helper()
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	d := websocket.Dialer{Jar: w.http.Jar}
	ws, resp, err := d.Dial("ws"+strings.TrimPrefix(w.srv.URL, "http")+path, h)
	if err != nil && resp == nil {
		w.t.Fatal(err)
	}
	if ws != nil {
		w.t.Cleanup(func() { _ = ws.Close() })
	}
	return ws, resp
}

// says is a message of the server.
type says struct {
	Type, ID, Reason, Message, Hint, Run string
	At, Old                              int64
}

// opens opens a stream and returns its first message.
func (w *userSite) opens(path string) (*websocket.Conn, says) {
	w.t.Helper()
	ws, resp := w.dial(path, "Origin", w.srv.URL)
	if ws == nil {
		w.t.Fatalf("%s answers %s", path, resp.Status)
	}
	var m says
	if err := ws.ReadJSON(&m); err != nil {
		w.t.Fatal(err)
	}
	return ws, m
}

// typed types, and reads until it's shown; it reports whether it was.
func typed(ws *websocket.Conn, text string) bool {
	if ws.WriteMessage(websocket.BinaryMessage, []byte(text)) != nil {
		return false
	}
	for got := ""; ; {
		kind, b, err := ws.ReadMessage()
		if err != nil {
			return false
		}
		if kind == websocket.BinaryMessage {
			if got += string(b); strings.HasSuffix(got, text) {
				return true
			}
		}
	}
}

func TestATerminalsStreamIsForItsPage(t *testing.T) {
	t.Parallel()
	w := newTerminalSite(t)
	w.another().must(t, "no sign-in", "Origin", w.srv.URL)
	w.enter("ada")
	host := strings.TrimPrefix(w.srv.URL, "http://")
	for name, origin := range map[string]string{"a foreign page": "https://evil.example", "no page": "null", "another port": "http://127.0.0.1:1",
		"its name at the end": "http://evil.example#" + host, "its name as a user": "http://" + host + "@evil.example", "a file": "file://"} {
		w.must(t, name, "Origin", origin)
	}
	w.get(terminalPath).reads(http.StatusUnprocessableEntity, "Open the terminal from the cluster")
	w.post(terminalPath, nil).reads(http.StatusMethodNotAllowed)
	ws, m := w.opens(terminalPath)
	if m.Type != "open" || !typed(ws, "hello") {
		t.Fatalf("%+v", m)
	}
	// What isn't a message of the page ends the stream, and the terminal is still there.
	for name, send := range map[string]func(*websocket.Conn) error{
		"no JSON":   func(ws *websocket.Conn) error { return ws.WriteMessage(websocket.TextMessage, []byte("x")) },
		"too large": func(ws *websocket.Conn) error { return ws.WriteMessage(websocket.BinaryMessage, make([]byte, 65<<10)) },
		"a bad size": func(ws *websocket.Conn) error {
			return ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"size","cols":"x"}`))
		},
		"a wrong end": func(ws *websocket.Conn) error {
			return ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"size"} {}`))
		},
	} {
		ws, again := w.opens(terminalPath + "?terminal=" + m.ID + "&at=-5&cols=99999999999&rows=-1&run=" + url.QueryEscape(m.Run))
		if again.ID != m.ID || send(ws) != nil {
			t.Fatalf("%s: %+v", name, again)
		}
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				break
			}
		}
	}
	if ws, again := w.opens(terminalPath + "?terminal=" + m.ID); again.ID != m.ID || !typed(ws, "still here") {
		t.Errorf("%+v", again)
	}
}

// must reports a stream that is opened and shouldn't be.
func (w *userSite) must(t *testing.T, name string, headers ...string) {
	t.Helper()
	if ws, resp := w.dial(terminalPath, headers...); ws != nil || resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusSeeOther &&
		resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s: %s", name, resp.Status)
	}
}

func TestTerminalsOfOthersArentOpened(t *testing.T) {
	t.Parallel()
	w := newTerminalSite(t).enter("ada")
	_, mine := w.opens(terminalPath)
	for name, c := range map[string]struct {
		who        *userSite
		path, says string
	}{
		"another tenant":      {w.another().enter("zoe", "acme"), terminalPath, `Cluster "shop-1" doesn't exist.`},
		"not shared":          {w.another().enter("eve"), terminalPath, `Cluster "shop-1" doesn't exist.`},
		"a viewer":            {w.another().enter("vera"), terminalPath, "Your role doesn't allow this."},
		"another's terminal":  {w.another().enter("abe"), terminalPath + "?terminal=" + mine.ID, "You have no such terminal."},
		"another node":        {w, "/clusters/shop-1/nodes/n2/terminal/stream", `has no node "n2"`},
		"a path as a node":    {w, "/clusters/shop-1/nodes/..%2fn1/terminal/stream", "has no node"},
		"a parent":            {w, "/clusters/shop-1/nodes/%2e%2e/terminal/stream", ""},
		"a parent's cluster":  {w, "/clusters/%2e%2e/nodes/n1/terminal/stream", ""},
		"a path as a cluster": {w, "/clusters/x%2f..%2fshop-1/nodes/n1/terminal/stream", "doesn't exist."},
		"no node":             {w, "/clusters/shop-1/nodes//terminal/stream", ""},
		"a null byte":         {w, "/clusters/shop-1/nodes/n1%00/terminal/stream", ""},
	} {
		ws, resp := c.who.dial(c.path, "Origin", w.srv.URL)
		if ws == nil {
			if resp.StatusCode < 300 || resp.StatusCode >= 500 || c.says != "" && resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s answers %s", name, resp.Status)
			}
			continue
		}
		var m says
		if err := ws.ReadJSON(&m); err != nil || m.Type != "end" || !strings.Contains(m.Message, c.says) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	if n := len(w.listed()); n != 1 {
		t.Errorf("%d terminals are open", n)
	}
}

func (w *userSite) listed() []terminal.Terminal {
	w.t.Helper()
	list, err := w.app.Terminal.Terminals(w.t.Context(), w.as("abe"), terminal.Filter{})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func TestATerminalsStreamEndsWithTheSignIn(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *userSite) error{
		"signed out": func(w *userSite) error {
			_, err := w.app.Identity.Sessions.RevokeAllSessions(w.t.Context(), w.as("abe"), "eve")
			return err
		},
		"disabled": func(w *userSite) error {
			yes := true
			_, err := w.app.Identity.Users.ChangeUser(w.t.Context(), w.as("abe"), "eve", identity.UserChange{Disabled: &yes})
			return err
		},
		"only looks now": func(w *userSite) error {
			viewer := app.RoleViewer
			_, err := w.app.Identity.Users.ChangeUser(w.t.Context(), w.as("abe"), "eve", identity.UserChange{Role: &viewer})
			return err
		},
	} {
		w := newTerminalSite(t).enter("eve")
		w.p.live.attend = time.Millisecond
		_, err := w.app.Cluster.Sharing.ShareCluster(t.Context(), w.as("ada"), "shop-1",
			sharing.SharingChange{Add: []sharing.Share{{Person: "eve", Access: app.AccessUser}}})
		if err != nil {
			t.Fatal(err)
		}
		ws, m := w.opens(terminalPath)
		if m.Type != "open" || !typed(ws, "hello") {
			t.Fatalf("%s: %+v", name, m)
		}
		if err := end(w); err != nil {
			t.Fatal(err)
		}
		_ = ws.SetReadDeadline(time.Now().Add(time.Minute))
		for err = nil; err == nil; {
			_, _, err = ws.ReadMessage()
		}
		if e, timeout := err.(interface{ Timeout() bool }); timeout && e.Timeout() {
			t.Errorf("%s: the stream stays open", name)
		}
		ws, resp := w.dial(terminalPath+"?terminal="+m.ID, "Origin", w.srv.URL)
		if ws == nil {
			if resp.StatusCode >= 500 {
				t.Errorf("%s: %s", name, resp.Status)
			}
			continue
		}
		if err := ws.ReadJSON(&m); err != nil || m.Type != "end" {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestTerminalsAreListed(t *testing.T) {
	t.Parallel()
	w := newTerminalSite(t).enter("ada")
	abe, eve := w.another().enter("abe"), w.another().enter("eve")
	abe.get("/terminals").reads(http.StatusOK, "Terminals aren't recorded.", "No terminals.")
	eve.post("/admin/terminals", url.Values{"record": {"yes"}, "keep_days": {"7"}}).reads(http.StatusForbidden)
	abe.post("/admin/terminals", url.Values{"record": {"yes"}, "keep_days": {"-7"}}).has(t, `value="-7"`)
	abe.post("/admin/terminals", url.Values{"record": {"yes"}, "keep_days": {"99999"}}).reads(http.StatusUnprocessableEntity, "1 to 3650 days")
	if a := abe.post("/admin/terminals", url.Values{"record": {"yes"}, "keep_days": {"7"}}); a.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", a.status, a.text())
	}
	abe.get("/terminals").reads(http.StatusOK, "New terminals are recorded. Recordings are kept for 7 days.")
	w.get("/clusters/shop-1/nodes/n1/terminal").has(t, `data-announce="7 days"`)
	ws, m := w.opens(terminalPath + "?announced=1")
	if !typed(ws, "hello") {
		t.Fatal("nothing is shown")
	}
	w.get("/terminals").has(t, "/terminals/"+m.ID+"/end")
	eve.get("/terminals").lacks(m.ID)
	eve.post("/terminals/"+m.ID+"/end", nil).reads(http.StatusNotFound)
	if a := abe.post("/terminals/"+m.ID+"/end", nil); a.status != http.StatusSeeOther {
		t.Errorf("%d: %s", a.status, a.text())
	}
	for m.Type != "end" {
		kind, b, err := ws.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if kind == websocket.TextMessage && json.Unmarshal(b, &m) != nil {
			t.Fatalf("%q", b)
		}
	}
	if m.Message != "abe ended this terminal." {
		t.Errorf("%+v", m)
	}
	path := "/terminals/" + w.listed()[0].ID
	for _, who := range []*userSite{w, abe} {
		who.get(path).has(t, path+"/recording")
		a := who.get(path + "/recording?download")
		a.reads(http.StatusOK, `"o","hello"`)
		if a.header.Get("Content-Type") != "application/x-asciicast" || !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%v", a.header)
		}
	}
	for _, who := range []*userSite{eve, w.another().enter("zoe", "acme"), w.another().enter("vera")} {
		who.get(path).reads(http.StatusNotFound)
		who.get(path + "/recording").reads(http.StatusNotFound)
	}
	w.another().get(path + "/recording").reads(http.StatusSeeOther)
}

// has checks what a page has, beside what a reader finds.
func (a seen) has(t *testing.T, want string) {
	t.Helper()
	if !strings.Contains(a.body, want) {
		t.Errorf("%d: %q is not in %s", a.status, want, a.body)
	}
}
