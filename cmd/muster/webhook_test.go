package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
)

// inbox takes what a hook sends, and verifies it with the secret that the command line printed.
type inbox struct {
	secret atomic.Pointer[string]
	status atomic.Int64
	titles chan string
	srv    *httptest.Server
	t      *testing.T
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	b := &inbox{titles: make(chan string, 100), t: t}
	b.srv = httptest.NewServer(b)
	t.Cleanup(b.srv.Close)
	return b
}

func (b *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(*b.secret.Load(), "whsec_"))
	if err != nil {
		b.t.Error(err)
	}
	m := hmac.New(sha256.New, key)
	m.Write([]byte(r.Header.Get("webhook-id") + "." + r.Header.Get("webhook-timestamp") + "."))
	m.Write(body)
	if !strings.Contains(r.Header.Get("webhook-signature"), "v1,"+base64.StdEncoding.EncodeToString(m.Sum(nil))) {
		b.t.Errorf("%s is not signed with the secret that was printed", body)
	}
	var text struct{ Text string }
	if err := json.Unmarshal(body, &text); err != nil {
		b.t.Error(err)
	}
	if s := b.status.Load(); s != 0 {
		w.WriteHeader(int(s))
	}
	b.titles <- text.Text
}

// TestHookCommands is a person's story over a real server: a hook is made, tried, fed, repaired and deleted.
func TestHookCommands(t *testing.T) {
	dir := home(t)
	hooks, err := server.HookFlags{Allow: []string{"127.0.0.0/8"}}.Config()
	if err != nil {
		t.Fatal(err)
	}
	log := &lockedText{}
	s, err := server.New(t.Context(), server.Config{Data: filepath.Join(dir, "data"), Listen: "127.0.0.1:0", Catalogs: []string{"../../examples/catalog"},
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Env: os.LookupEnv, Hooks: hooks})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	admin := app.Actor{Tenant: app.DefaultTenant, User: "admin", Role: app.RoleSuperadmin}
	for end := time.Now().Add(hangs); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "data", cli.ClientFile)); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	in := newInbox(t)
	const token = "a-token-of-the-receiver"
	file := filepath.Join(dir, "url")
	if err := os.WriteFile(file, []byte(in.srv.URL+"/in?token="+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := runAlone(t, "webhook", "list"); r.code != 0 || !strings.Contains(r.out, "No webhooks.") {
		t.Fatalf("hook list: %+v", r)
	}
	r := runAlone(t, "webhook", "save", "chat", "--url-file", file, "--as", "slack", "--kind", "alarm", "--kind", "hook")
	_, rest, found := strings.Cut(r.out, "Secret: ")
	secret, _, _ := strings.Cut(rest, " ")
	if r.code != 0 || !found || !strings.HasPrefix(secret, "whsec_") || strings.Contains(r.out, token) {
		t.Fatalf("hook save: %+v", r)
	}
	in.secret.Store(&secret)
	if r := runAlone(t, "webhook", "test", "chat"); r.code != 0 || !strings.Contains(r.out, "Test notification delivered: status 200 in") {
		t.Fatalf("hook test: %+v", r)
	}
	if got := <-in.titles; !strings.HasPrefix(got, "*Test notification*\nThis webhook works") {
		t.Errorf("the test says %q", got)
	}

	// Notifications are sent at once, and only the requested kinds.
	began := time.Now()
	for _, n := range []app.Notice{{Kind: app.NoticeBudget, Title: "Money"}, {Kind: app.NoticeAlarm, Title: "Override", About: app.Subject{Kind: app.SubjectClusters}}} {
		n.At, n.Tenant = time.Now(), app.DefaultTenant
		if err := s.Store.Notify(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-in.titles; got != "*Override*\n<"+s.URL+"/clusters|Open>" {
		t.Errorf("sent %q", got)
	}
	if took := time.Since(began); took > 25*time.Second { // where nothing wakes who tells it, he looks every 30 s
		t.Errorf("it took %s to be sent", took)
	}
	in.status.Store(404)
	if r := runAlone(t, "webhook", "test", "chat"); r.code != 1 || !strings.Contains(r.errOut, "the test notification failed: The receiver responded 404 Not Found.") {
		t.Errorf("a test that fails: %+v", r)
	}
	in.status.Store(410)
	if r := runAlone(t, "webhook", "test", "chat"); r.code != 1 || !strings.Contains(r.errOut, "410 Gone") {
		t.Errorf("a test that is gone: %+v", r)
	}
	if r := runAlone(t, "webhook", "list"); r.code != 0 || !strings.Contains(r.out, "chat is stopped: The receiver responded 410 Gone") {
		t.Errorf("hook list: %+v", r)
	}
	in.status.Store(0)
	if r := runAlone(t, "webhook", "save", "chat", "--on"); r.code != 0 || !strings.Contains(r.out, "Webhook chat updated: active") || strings.Contains(r.out, "Secret") {
		t.Errorf("hook save --on: %+v", r)
	}
	list, err := s.Services.Webhook.HookDeliveries(t.Context(), admin, "chat", 0, 10)
	if err != nil || len(list) != 4 {
		t.Fatalf("%d deliveries (%v), want 4", len(list), err)
	}
	for len(in.titles) > 0 {
		<-in.titles
	}
	if r := runAlone(t, "webhook", "resend", "chat", "2"); r.code != 0 {
		t.Errorf("hook resend: %+v", r)
	}
	if got := <-in.titles; !strings.HasPrefix(got, "*Override*") {
		t.Errorf("sent again: %q", got)
	}
	if r := runAlone(t, "webhook", "deliveries", "chat"); r.code != 0 || !strings.Contains(r.out, "Override") || !strings.Contains(r.out, "404") {
		t.Errorf("hook deliveries: %+v", r)
	}
	if r := runAlone(t, "webhook", "deliveries", "chat", "3"); r.code != 0 || !strings.Contains(r.out, "The receiver responded 404 Not Found.") || !strings.Contains(r.out, `{"text":"*Test notification*`) {
		t.Errorf("hook deliveries 3: %+v", r)
	}
	for _, c := range [][]string{
		{"webhook", "save", "inside", "--url", "https://169.254.169.254/latest"}, {"webhook", "save", "Bad Name", "--url", "https://x.example.com"},
		{"webhook", "save", "x", "--url", "ftp://x.example.com"}, {"webhook", "save", "chat", "--kind", "gossip"}, {"webhook", "test", "none"}, {"hook", "resend", "chat", "99"},
		{"webhook", "delete", "chat"},
	} {
		if r := runAlone(t, c...); r.code == 0 || r.errOut == "" {
			t.Errorf("%v is taken: %+v", c, r)
		}
	}
	if r := runAlone(t, "webhook", "delete", "chat", "--yes"); r.code != 0 || !strings.Contains(r.out, "Deleted webhook chat.") {
		t.Errorf("hook delete: %+v", r)
	}
	if text := log.String(); strings.Contains(text, token) || strings.Contains(text, secret) {
		t.Error("the server's log tells a secret of the hook")
	}
}

// lockedText gathers what several goroutines write.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestHookFlags(t *testing.T) {
	for _, f := range []server.HookFlags{{Allow: []string{"10.0.0.0/33"}}, {Allow: []string{"example.com"}}, {Proxy: "proxy"}, {Proxy: "ftp://proxy"}} {
		if _, err := f.Config(); err == nil {
			t.Errorf("%+v is taken", f)
		}
	}
	c, err := server.HookFlags{Allow: []string{"10.1.2.3/8", " ::ffff:192.168.0.1", "fd00::/8"}, Proxy: "http://proxy:3128"}.Config()
	if err != nil || c.Allow[0].String() != "10.0.0.0/8" || c.Allow[1].String() != "192.168.0.1/32" || c.Proxy.Host != "proxy:3128" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestNotices(t *testing.T) {
	home(t)
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("before") != "" {
			_, _ = io.WriteString(w, `{"notifications":[]}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"notifications":[{"id":7,"at":%q,"tenant":"default","kind":"lost","cluster":"c1","users":["ada"],"title":"shop lost machines.","text":"n2 is gone."}],"next":7}`,
			time.Now().Add(-2*time.Hour).Format(time.RFC3339))
	}))
	defer server.Close()
	run := func(args ...string) result {
		return runAlone(t, append(args, "--server", server.URL, "--token", "x")...)
	}
	got := run("notifications", "--limit", "1")
	for _, want := range []string{"AGE  KIND  NOTIFICATION", "2 h  lost  shop lost machines. n2 is gone.", "Older notifications: muster notifications --before 7\n"} {
		wantResult(t, got, cli.ExitDone, want, "")
	}
	if asked != "/api/v1/notifications?limit=1" {
		t.Errorf("it asks %s", asked)
	}
	wantResult(t, run("notifications", "--before", "7"), cli.ExitDone, "No notifications.", "")
	wantResult(t, run("notifications", "--format", "json"), cli.ExitDone, `"next":7`, "")
}
