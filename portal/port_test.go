package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/family"
	"muster/app/identity"

	"github.com/gorilla/websocket"
)

// portNode is a node with ports.
type portNode struct {
	echoNode
	once    *sync.Once
	listens map[string]string // where they really are, by address as seen from the node
}

func (n portNode) Close() error { n.once.Do(func() { close(n.gone) }); return nil }

func (n portNode) DialPort(ctx context.Context, address string) (net.Conn, error) {
	at, ok := n.listens[address]
	if !ok {
		return nil, &app.Error{Code: app.ETransient, Reason: family.PortClosed, Message: "Nothing listens."}
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", at)
}

// portSite is a portal with a domain for apps. Its browsers reach all hosts at the same server.
type portSite struct {
	*userSite
	server *httptest.Server
	node   portNode
}

func newPortSite(t *testing.T) *portSite {
	t.Helper()
	s := &portSite{userSite: newUserSite(t, func(c *Config) { c.AppsDomain, c.URL = "apps.example.com", "http://muster.example.com" })}
	listens := map[string]string{}
	s.node = portNode{listens: listens}
	if _, err := s.store.CreateCluster(t.Context(), apptest.NewCluster(app.DefaultTenant, "shop", 1, s.clock.now(), apptest.Chain(1))); err != nil {
		t.Fatal(err)
	}
	a := s.app.NodeAccess
	a.Store, a.Keys = machines{a.Store}, signs{}
	a.SignIn = func(context.Context, family.NodeTarget) (family.NodeConnection, error) {
		return portNode{echoNode{make(chan struct{})}, &sync.Once{}, listens}, nil
	}
	s.server = httptest.NewServer(s.p.ByHost(s.p))
	t.Cleanup(s.server.Close)
	t.Cleanup(s.app.Port.Close)
	return s
}

// listen lets a handler listen on an address of the node.
func (s *portSite) listen(address string, h http.Handler) {
	srv := httptest.NewServer(h)
	s.t.Cleanup(srv.Close)
	s.node.listens[address] = srv.Listener.Addr().String()
}

func (s *portSite) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, s.server.Listener.Addr().String())
}

// browser is a browser in which a user is signed in; "" for none.
func (s *portSite) browser(user string) *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	tr := &http.Transport{DialContext: s.dial}
	s.t.Cleanup(tr.CloseIdleConnections)
	c := &http.Client{Jar: jar, Transport: tr}
	if user != "" {
		resp, err := c.PostForm("http://muster.example.com/signin", url.Values{"user": {user}, "password": {horse}})
		if err != nil || resp.StatusCode != http.StatusOK {
			s.t.Fatalf("the sign-in of %s: %v, %v", user, resp, err)
		}
		resp.Body.Close()
	}
	return c
}

// page is what a browser gets.
type page struct {
	status   int
	at, text string
	header   http.Header
}

func (s *portSite) open(c *http.Client, method, address string, headers ...string) page {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return page{resp.StatusCode, resp.Request.URL.String(), string(b), resp.Header}
}

const shopApp = "http://8080--n1--shop-1.apps.example.com"

// echoApp answers with the request, sets cookies, and echoes WebSockets.
func echoApp() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if websocket.IsWebSocketUpgrade(r) {
			ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer ws.Close()
			for {
				kind, b, err := ws.ReadMessage()
				if err != nil || ws.WriteMessage(kind, b) != nil {
					return
				}
			}
		}
		w.Header().Add("Set-Cookie", "app=1; Domain=example.com; Path=/")
		w.Header().Add("Set-Cookie", `json={"a":"b c"}; domain=.example.com; Path=/; Partitioned`)
		w.Header().Add("Set-Cookie", "muster=stolen; Path=/")
		w.Header().Add("Set-Cookie", "muster-port=stolen; Path=/")
		_ = json.NewEncoder(w).Encode(map[string]any{"path": r.URL.RequestURI(), "host": r.Host, "cookie": r.Header.Get("Cookie"),
			"for": r.Header.Get("X-Forwarded-For"), "proto": r.Header.Get("X-Forwarded-Proto"), "authorization": r.Header.Get("Authorization")})
	})
}

func TestPortsOpenOnNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newPortSite(t)
	s.listen("127.0.0.1:8080", echoApp())
	ada := s.browser("ada")
	got := s.open(ada, "GET", shopApp+"/deep/page?q=1")
	if got.status != 200 || got.at != shopApp+"/deep/page?q=1" || !strings.Contains(got.text, `"path":"/deep/page?q=1"`) ||
		!strings.Contains(got.text, `"host":"8080--n1--shop-1.apps.example.com"`) {
		t.Fatalf("%+v", got)
	}
	again := s.open(ada, "POST", shopApp+"/form", "Sec-Fetch-Site", "same-origin", "Cookie", "other=2")
	if again.status != 200 || strings.Contains(again.text, "muster") && strings.Contains(again.text, `"cookie":"muster`) || !strings.Contains(again.text, "app=1") {
		t.Errorf("%+v", again)
	}
	for _, forbidden := range []string{"muster-port=", "muster=", `"for":"1`} {
		if strings.Contains(again.text, forbidden) {
			t.Errorf("the app got %s: %s", forbidden, again.text)
		}
	}
	for _, line := range again.header.Values("Set-Cookie") {
		if strings.Contains(strings.ToLower(line), "domain") || strings.HasPrefix(line, "json") && line != `json={"a":"b c"}; Path=/; Partitioned` ||
			strings.HasPrefix(line, "muster") {
			t.Errorf("the app sets %s", line)
		}
	}
	// A WebSocket of the app's page.
	d := websocket.Dialer{NetDialContext: s.dial, Jar: ada.Jar}
	ws, _, err := d.DialContext(t.Context(), "ws://8080--n1--shop-1.apps.example.com/socket", http.Header{"Origin": {shopApp}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for i := range 3 {
		text := fmt.Sprintf("message %d", i)
		if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, b, err := ws.ReadMessage(); err != nil || string(b) != text {
			t.Errorf("%s, %v", b, err)
		}
	}
	// What listens on the node's own address only.
	s.listen("10.0.0.1:9090", echoApp())
	if got := s.open(ada, "GET", "http://9090--n1--shop-1.apps.example.com/"); got.status != 200 {
		t.Errorf("%+v", got)
	}
	if got := s.open(ada, "GET", "http://7070--n1--shop-1.apps.example.com/"); got.status != http.StatusBadGateway || !strings.Contains(got.text, "Nothing listens on port 7070 of node n1.") {
		t.Errorf("%+v", got)
	}
	entries, err := s.store.Audit(t.Context(), app.AuditFilter{Act: "port.open", Limit: 10})
	if err != nil || len(entries) != 3 || entries[2].Detail != "8080--n1--shop-1" || entries[2].Who != "ada" {
		t.Errorf("%+v, %v", entries, err)
	}
}

func TestPortsAreForThoseWhoMayUseTheNode(t *testing.T) {
	t.Parallel()
	s := newPortSite(t)
	s.listen("127.0.0.1:8080", echoApp())
	if got := s.open(s.browser(""), "GET", shopApp+"/x"); !strings.HasPrefix(got.at, "http://muster.example.com/signin?next=") {
		t.Errorf("not signed in: %+v", got)
	}
	for _, who := range []string{"eve", "vera"} { // another user, and a viewer
		if got := s.open(s.browser(who), "GET", shopApp+"/"); got.status != http.StatusNotFound && got.status != http.StatusForbidden || strings.Contains(got.text, `"path"`) {
			t.Errorf("%s: %+v", who, got)
		}
	}
	if got := s.open(s.browser(""), "POST", shopApp+"/"); got.status != http.StatusUnauthorized {
		t.Errorf("a form without a sign-in: %+v", got)
	}
	ada := s.browser("ada")
	for name, address := range map[string]string{
		"no port": "http://n1--shop-1.apps.example.com/", "port 0": "http://0--n1--shop-1.apps.example.com/", "too large": "http://65536--n1--shop-1.apps.example.com/",
		"leading zero": "http://08080--n1--shop-1.apps.example.com/", "two labels": "http://x.8080--n1--shop-1.apps.example.com/", "another scheme": "http://8080t--n1--shop-1.apps.example.com/",
	} {
		if got := s.open(ada, "GET", address); got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := s.open(ada, "GET", "http://8080--n1--other-9.apps.example.com/"); got.status != http.StatusNotFound {
		t.Errorf("no such cluster: %+v", got)
	}
	if got := s.open(ada, "GET", "http://8080--n7--shop-1.apps.example.com/"); got.status != http.StatusNotFound {
		t.Errorf("no such node: %+v", got)
	}
	if got := s.open(ada, "GET", shopApp+"/.muster/other"); got.status != http.StatusNotFound {
		t.Errorf("Muster's own paths: %+v", got)
	}
	if got := s.open(ada, "GET", "http://muster.example.com/ports/8080--n1--shop-1?path="+url.QueryEscape("//evil.example")); got.at != shopApp+"/" {
		t.Errorf("a path that leads elsewhere: %s", got.at)
	}
}

// An app's page is on the same site as others' to browsers.
func TestPagesOfOthersCantUseAPort(t *testing.T) {
	t.Parallel()
	s := newPortSite(t)
	s.listen("127.0.0.1:8080", echoApp())
	ada := s.browser("ada")
	if got := s.open(ada, "GET", shopApp+"/"); got.status != 200 {
		t.Fatalf("%+v", got)
	}
	for name, c := range map[string]struct {
		method  string
		headers []string
		allowed bool
	}{
		"another app's form":         {"POST", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Origin", "http://1--n1--evil-1.apps.example.com"}, false},
		"another app's fetch":        {"GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Origin", "http://1--n1--evil-1.apps.example.com"}, false},
		"another app's image":        {"GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors", "Referer", "http://1--n1--evil-1.apps.example.com/"}, false},
		"another app's frame":        {"GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, false},
		"another site's form":        {"POST", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, false},
		"an old browser's form":      {"POST", []string{"Origin", "https://evil.example"}, false},
		"a page of no origin":        {"POST", []string{"Origin", "null"}, false},
		"a name that looks like it":  {"POST", []string{"Origin", "http://1--n1--shop-1.apps.example.com.evil.example"}, false},
		"a link":                     {"GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, true},
		"another port's fetch":       {"POST", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Origin", "http://3000--n1--shop-1.apps.example.com"}, true},
		"its own form":               {"POST", []string{"Sec-Fetch-Site", "same-origin", "Origin", shopApp}, true},
		"an old browser's own form":  {"POST", []string{"Origin", shopApp}, true},
		"a program with the cookies": {"POST", nil, true},
	} {
		got := s.open(ada, c.method, shopApp+"/do", c.headers...)
		if allowed := got.status == 200; allowed != c.allowed {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
	}
	d := websocket.Dialer{NetDialContext: s.dial, Jar: ada.Jar}
	if ws, _, err := d.DialContext(t.Context(), "ws://8080--n1--shop-1.apps.example.com/socket", http.Header{"Origin": {"http://1--n1--evil-1.apps.example.com"}}); err == nil {
		_ = ws.Close()
		t.Error("another app's page opened a WebSocket")
	}
	// And the portal takes nothing from an app's page.
	for _, path := range []string{"/clusters/shop-1/delete", "/api/v1/clusters"} {
		if got := s.open(ada, "POST", "http://muster.example.com"+path, "Sec-Fetch-Site", "same-site", "Origin", shopApp); got.status != http.StatusForbidden && got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

func TestPortsEndWithTheSignIn(t *testing.T) {
	t.Parallel()
	s := newPortSite(t)
	s.listen("127.0.0.1:8080", echoApp())
	ada := s.browser("ada")
	if got := s.open(ada, "GET", shopApp+"/"); got.status != 200 {
		t.Fatalf("%+v", got)
	}
	at, err := url.Parse(shopApp)
	if err != nil {
		t.Fatal(err)
	}
	pass := ada.Jar.Cookies(at)
	var kept string
	for _, c := range pass {
		if c.Name == "muster-port" {
			kept = c.Value
		}
	}
	if kept == "" {
		t.Fatalf("%v", pass)
	}
	with := func(value string) int {
		c := s.browser("")
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		return s.open(c, "GET", shopApp+"/", "Cookie", "muster-port="+value).status
	}
	if got := with(kept); got != 200 {
		t.Errorf("with the pass: %d", got)
	}
	for name, value := range map[string]string{"changed": "x" + kept, "cut": kept[:len(kept)-2], "empty": "", "long": strings.Repeat("x", 5000), "no signature": strings.Split(kept, ".")[0]} {
		if got := with(value); got != http.StatusSeeOther {
			t.Errorf("%s: %d", name, got)
		}
	}
	other := s.browser("")
	other.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if got := s.open(other, "GET", "http://9090--n1--shop-1.apps.example.com/", "Cookie", "muster-port="+kept); got.status != http.StatusSeeOther {
		t.Errorf("on another port's name: %d", got.status)
	}
	if got := s.open(ada, "POST", "http://muster.example.com/signout"); got.status != 200 {
		t.Fatalf("%+v", got)
	}
	s.clock.pass(10 * time.Second)
	if got := with(kept); got != http.StatusSeeOther {
		t.Errorf("after signing out: %d", got)
	}
}

// A user is locked by disabling the account. The sign-in doesn't come back with the account.
func TestPortsEndWithADisabledUser(t *testing.T) {
	t.Parallel()
	s := newPortSite(t)
	s.listen("127.0.0.1:8080", echoApp())
	ada := s.browser("ada")
	if got := s.open(ada, "GET", shopApp+"/"); got.status != http.StatusOK {
		t.Fatalf("%+v", got)
	}
	for _, off := range []bool{true, false} {
		if _, err := s.app.Identity.Users.ChangeUser(t.Context(), s.as("root"), "ada", identity.UserChange{Disabled: &off}); err != nil {
			t.Fatal(err)
		}
		s.clock.pass(10 * time.Second)
		if got := s.open(ada, "GET", shopApp+"/"); !strings.HasPrefix(got.at, "http://muster.example.com/signin") {
			t.Errorf("disabled %t: %+v", off, got)
		}
	}
}

func TestTicketsAreForOneUse(t *testing.T) {
	t.Parallel()
	s := newPortSite(t)
	s.listen("127.0.0.1:8080", echoApp())
	ada := s.browser("ada")
	ada.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ticket := func() string {
		got := s.open(ada, "GET", "http://muster.example.com/ports/8080--n1--shop-1?path=/x")
		if got.status != http.StatusSeeOther || got.header.Get("Referrer-Policy") != "no-referrer" {
			t.Fatalf("%+v", got)
		}
		return got.header.Get("Location")
	}
	first := ticket()
	victim := s.browser("")
	victim.CheckRedirect = ada.CheckRedirect
	if got := s.open(victim, "GET", strings.Replace(first, "8080--", "8081--", 1)); got.status != http.StatusUnauthorized {
		t.Errorf("on another name: %+v", got)
	}
	if got := s.open(ada, "GET", first); got.status != http.StatusSeeOther || got.header.Get("Location") != "/x" {
		t.Errorf("%+v", got)
	}
	if got := s.open(victim, "GET", first); got.status != http.StatusUnauthorized || !strings.Contains(got.text, "This link was used or has expired.") {
		t.Errorf("twice: %+v", got)
	}
	late := ticket()
	s.clock.pass(time.Minute)
	if got := s.open(ada, "GET", late); got.status != http.StatusUnauthorized {
		t.Errorf("late: %+v", got)
	}
}

// A superadmin who acts in a tenant opens ports of its clusters.
func TestPortsOfAnotherTenant(t *testing.T) {
	t.Parallel()
	s := newPortSite(t)
	s.listen("127.0.0.1:8080", echoApp())
	if _, err := s.store.CreateCluster(t.Context(), apptest.NewCluster("acme", "theirs", 1, s.clock.now(), apptest.Chain(1))); err != nil {
		t.Fatal(err)
	}
	const theirs = "http://8080--n1--theirs-1.apps.example.com/"
	root := s.browser("root")
	if got := s.open(root, "GET", theirs); got.status != http.StatusNotFound {
		t.Errorf("in the own tenant: %+v", got)
	}
	resp, err := root.PostForm("http://muster.example.com/tenant", url.Values{"tenant": {"acme"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := s.open(root, "GET", theirs); got.status != 200 {
		t.Errorf("in theirs: %+v", got)
	}
	s.clock.pass(time.Minute)
	if got := s.open(root, "GET", theirs+"again"); got.status != 200 {
		t.Errorf("a minute later: %+v", got)
	}
	if got := s.open(s.browser("ada"), "GET", theirs); got.status != http.StatusNotFound {
		t.Errorf("a user of another tenant: %+v", got)
	}
}
