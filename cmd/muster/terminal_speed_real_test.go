//go:build real

package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/identity"
	"muster/jobs/remote"
)

// browserOf signs in a user, and returns the cookies.
func browserOf(t *testing.T, site, user, password string) http.CookieJar {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	sendForm(t, jar, site, "/signin", url.Values{"user": {user}, "password": {password}})
	return jar
}

// newcomer signs in someone new, who sets a password.
func (p *process) newcomer(site, user, password string) http.CookieJar {
	p.t.Helper()
	jar := browserOf(p.t, site, user, password)
	const own = "staple battery horse correct"
	sendForm(p.t, jar, site, "/account/password", url.Values{"old": {password}, "new": {own}, "again": {own}})
	return jar
}

// sendForm sends a form that leads elsewhere.
func sendForm(t *testing.T, jar http.CookieJar, site, path string, form url.Values) {
	t.Helper()
	c := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", site)
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s answers %s", path, resp.Status)
	}
}

// streamOf opens a terminal as a browser does.
func streamOf(site, id string, jar http.CookieJar) (*websocket.Conn, error) {
	d := websocket.Dialer{Jar: jar}
	ws, _, err := d.Dial("ws"+strings.TrimPrefix(site, "http")+"/clusters/"+id+"/nodes/n1/terminal/stream?cols=80&rows=24", http.Header{"Origin": {site}})
	if err != nil {
		return nil, err
	}
	kind, b, err := ws.ReadMessage()
	if err == nil && (kind != websocket.TextMessage || !strings.Contains(string(b), `"open"`)) {
		err = fmt.Errorf("%s", b)
	}
	return ws, err
}

// rawCat shows what is typed, once and at once.
const rawCat = "stty raw -echo; echo be''gin; exec cat\r"

// echoes types letters one by one, and returns how long each takes until it's shown.
func echoes(t *testing.T, write func([]byte) error, read func() ([]byte, error)) (took []time.Duration) {
	t.Helper()
	until := func(want string) {
		for got := ""; !strings.Contains(got, want); {
			b, err := read()
			if err != nil {
				t.Fatalf("%v after %q", err, got)
			}
			got += string(b)
		}
	}
	if err := write([]byte(rawCat)); err != nil {
		t.Fatal(err)
	}
	until("begin")
	for i := range 400 {
		letter := string(rune('A' + i%26))
		began := time.Now()
		if err := write([]byte(letter)); err != nil {
			t.Fatal(err)
		}
		until(letter)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took
}

// TestRealTerminalsAreFast compares what is typed in a browser's terminal with bare SSH, and measures what 200 terminals take.
func TestRealTerminalsAreFast(t *testing.T) {
	const password = "correct horse battery"
	p := newProcess(t, "MUSTER_ADMIN_PASSWORD="+password)
	v := p.await(p.create(3).ID)
	site := p.client().Settings().URL
	jar := browserOf(t, site, "admin", password)
	ws, err := streamOf(site, v.ID, jar)
	if err != nil {
		t.Fatal(err)
	}
	through := echoes(t, func(b []byte) error { return ws.WriteMessage(websocket.BinaryMessage, b) }, func() ([]byte, error) {
		_, b, err := ws.ReadMessage()
		return b, err
	})
	_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"quit"}`))
	_ = ws.Close()
	bare := p.bare(v)
	at := func(all []time.Duration, percent int) time.Duration {
		return all[len(all)*percent/100].Round(10 * time.Microsecond)
	}
	t.Logf("a letter through Muster: %s, p99 %s; by bare SSH: %s, p99 %s", at(through, 50), at(through, 99), at(bare, 50), at(bare, 99))
	if more := at(through, 99) - at(bare, 99); more > 20*time.Millisecond {
		t.Errorf("the slowest hundredth takes %s longer", more)
	}
	p.many(v, site, 200)
}

// bare is the same over SSH alone.
func (p *process) bare(v cluster.View) []time.Duration {
	p.t.Helper()
	user, key, err := p.client().Clusters.Key(p.t.Context(), v.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	n := v.Nodes[slices.IndexFunc(v.Nodes, func(n app.Node) bool { return n.Name == "n1" })]
	c, err := remote.Connect(p.t.Context(), family.NodeTarget{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: user, HostKey: n.HostKey,
		PrivateKey: key, Dial: (&net.Dialer{}).DialContext})
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	term, err := c.Terminal(p.t.Context(), family.TerminalOptions{Size: family.TerminalSize{Columns: 80, Rows: 24}})
	if err != nil {
		p.t.Fatal(err)
	}
	b := make([]byte, 4096)
	return echoes(p.t, func(b []byte) error { _, err := term.Write(b); return err }, func() ([]byte, error) {
		n, err := term.Read(b)
		return b[:n], err
	})
}

// many opens terminals at once, and reads what they show.
func (p *process) many(v cluster.View, site string, most int) {
	p.t.Helper()
	var jars []http.CookieJar
	for i := range most / 20 {
		m, err := p.client().Users.Create(p.t.Context(), identity.NewUser{Name: fmt.Sprint("admin-", i), Role: app.RoleAdmin})
		if err != nil {
			p.t.Fatal(err)
		}
		jars = append(jars, p.newcomer(site, m.User.Name, m.Password))
	}
	before, began := p.resident(), time.Now()
	var all sync.WaitGroup
	places := make(chan struct{}, 8)
	open := make(chan *websocket.Conn, most)
	for i := range most {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			ws, err := streamOf(site, v.ID, jars[i/20])
			if err != nil {
				p.t.Error(err)
				return
			}
			open <- ws
		})
	}
	all.Wait()
	close(open)
	took, grown := time.Since(began), p.resident()-before
	p.t.Logf("%d terminals were opened in %s; the server grew by %d MB, from %d MB", len(open), took.Round(time.Millisecond), grown>>20, before>>20)
	if grown > 150<<20 {
		p.t.Errorf("the server grew by %d MB", grown>>20)
	}
	for ws := range open {
		_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"type":"quit"}`))
	}
}
