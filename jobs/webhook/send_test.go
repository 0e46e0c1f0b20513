package webhook

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/netguard"
	"muster/app/webhook"
)

var secret = []byte(strings.Repeat("s", 32))

func message(url string) Message {
	return Message{ID: "msg_1", URL: url, Body: []byte(`{"data":{"title":"hello"}}`), Secrets: [][]byte{secret}}
}

func sender(limit time.Duration) *Sender {
	return NewSender(SenderConfig{Guard: &netguard.Guard{Allow: loopback}, Time: limit, Version: "1.2.3"})
}

func TestSend(t *testing.T) {
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ got) { _, _ = w.Write([]byte("thanks\x00\xff")) })
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // which is no one's business
	a, err := sender(0).Send(t.Context(), message(rec.srv.URL+"/in?token=x"))
	if err != nil || a.Status != 200 || a.Text != "thanks\uFFFD\uFFFD" || a.Duration <= 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if g := rec.next(); g.header.Get("User-Agent") != "Muster/1.2.3" || g.id != "msg_1" {
		t.Errorf("it came as %v", g.header)
	}
	// Both secrets sign while one follows the other.
	m := message(rec.srv.URL)
	m.Secrets = [][]byte{[]byte(strings.Repeat("n", 32)), secret}
	if _, err := sender(0).Send(t.Context(), m); err != nil {
		t.Error(err)
	}
}

// The example of the standard's own documents, so that we sign as everyone does.
func TestSignature(t *testing.T) {
	key, err := webhook.HookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`), key)
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("signed %s, want %s", got, want)
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		status int
		after  string
		code   app.Code
		reason string
		wait   time.Duration
	}{
		{200, "", "", "", 0}, {204, "", "", "", 0}, {202, "", "", "", 0},
		{301, "", app.EInvalid, "redirect", 0}, {307, "", app.EInvalid, "redirect", 0},
		{400, "", app.EInvalid, "", 0}, {401, "", app.ECredentials, "", 0}, {403, "", app.ECredentials, "", 0}, {404, "", app.EInvalid, "", 0},
		{408, "", app.ETimeout, "", 0}, {410, "", app.ENotFound, "gone", 0}, {429, "7", app.ERateLimit, "", 7 * time.Second},
		{429, "garbage", app.ERateLimit, "", 0}, {429, "99999999999", app.ERateLimit, "", 0}, {429, "-5", app.ERateLimit, "", 0},
		{503, "Wed, 21 Oct 2015 07:28:00 GMT", app.ETransient, "", 0}, {500, "", app.ETransient, "", 0}, {502, "90000000", app.ETransient, "", 48 * time.Hour},
	} {
		reached := false
		rec := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ got) {
			if reached {
				t.Error("a redirect was followed")
			}
			reached = true
			w.Header().Set("Location", "/elsewhere")
			w.Header().Set("Retry-After", c.after)
			w.WriteHeader(c.status)
		})
		a, err := sender(0).Send(t.Context(), message(rec.srv.URL))
		switch {
		case c.code == "" && err != nil, c.code != "" && (err == nil || err.Code != c.code || err.Reason != c.reason):
			t.Errorf("%d returns %v", c.status, err)
		case a.Status != c.status:
			t.Errorf("%d is reported as %d", c.status, a.Status)
		case err != nil && c.after != "99999999999" && err.RetryAfter != c.wait:
			t.Errorf("%d with Retry-After %q waits %s, want %s", c.status, c.after, err.RetryAfter, c.wait)
		}
	}
}

func TestSendErrors(t *testing.T) {
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	wait := func(r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-hang:
		}
	}
	const refusing = "127.0.0.1:1" // a port that was free a moment ago may be someone's by now
	slow := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ got) {
		for range 1 << 15 { // the answer comes byte by byte, and never ends
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-hang:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ got) { wait(r) })
	huge := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ got) {
		chunk := bytes.Repeat([]byte("y"), 64<<10)
		for range 1 << 14 { // a GiB, if anybody read it
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	broken := rawServer(t, "not http at all\r\n\r\n")
	heads := rawServer(t, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("z", 100<<10)+"\r\n\r\n")
	gone := rawServer(t, "")
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tls.Close)
	for _, c := range []struct {
		name, url string
		limit     time.Duration
		code      app.Code
		says      string
	}{
		{"refuses", "http://" + refusing, time.Minute, app.ETransient, "Can't connect to 127.0.0.1: connect: connection refused."},
		{"hangs", hanging.srv.URL, 100 * time.Millisecond, app.ETimeout, "didn't respond within 100 ms."},
		{"drips", slow.srv.URL, 300 * time.Millisecond, "", ""},
		{"floods", huge.srv.URL, time.Minute, "", ""},
		{"speaks something else", "http://" + broken, time.Minute, app.ETransient, "sent an invalid response"},
		{"sends a huge header", "http://" + heads, time.Minute, app.ETransient, "sent an invalid response"},
		{"hangs up", "http://" + gone, time.Minute, app.ETransient, "closed the connection without a response."},
		{"cannot prove itself", tls.URL, time.Minute, app.EHostKey, "couldn't prove its identity"},
		{"is inside", "https://192.168.7.7/x?token=secret", time.Minute, app.EForbidden, "Tenants can't connect to 192.168.7.7: it is a private address."},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			m := message(strings.Replace(c.url, "://", "://u:secret@", 1) + "/?token=secret")
			a, err := sender(c.limit).Send(t.Context(), m)
			for limit := 10 * c.limit; c.name == "drips" && err != nil && limit < time.Minute; limit *= 10 { // a busy host may begin its answer later
				a, err = sender(limit).Send(t.Context(), m)
			}
			switch {
			case c.code == "" && (err != nil || a.Status != 200):
				t.Fatalf("%+v, %v", a, err)
			case c.code != "" && (err == nil || err.Code != c.code || !strings.Contains(err.Message, c.says)):
				t.Fatalf("%v, want %s %q", err, c.code, c.says)
			}
			if err != nil && strings.Contains(fmt.Sprint(err, err.Err, err.Hint), "secret") {
				t.Errorf("the error tells a secret: %v", err)
			}
			if len(a.Text) > webhook.ResponseKept || time.Since(began) > hangs {
				t.Errorf("%d bytes kept, %s taken", len(a.Text), time.Since(began))
			}
		})
	}
}

// rawServer answers every connection with a text and closes it.
func rawServer(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 64<<10)
			_, _ = conn.Read(buf)
			_, _ = conn.Write([]byte(text))
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

func TestCertificatesAreVerified(t *testing.T) {
	ok := 0
	srv := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { ok++ }))
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	s := NewSender(SenderConfig{Guard: &netguard.Guard{Allow: loopback}, Roots: roots})
	if _, err := s.Send(t.Context(), message(srv.URL)); err != nil || ok != 1 {
		t.Errorf("a certificate that fits: %v", err)
	}
	// The certificate is not for this name.
	other := &netguard.Guard{Allow: loopback, Resolver: &rebinding{first: []string{"127.0.0.1"}}}
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	s = NewSender(SenderConfig{Guard: other, Roots: roots})
	if _, err := s.Send(t.Context(), message("https://other.test:"+port)); err == nil || err.Code != app.EHostKey || ok != 1 {
		t.Errorf("a certificate for another name: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	m := message("http://127.0.0.1:1/")
	m.Body = make([]byte, webhook.MaxHookBody+1)
	if _, err := sender(0).Send(t.Context(), m); err == nil || err.Code != app.ETooLarge {
		t.Error(err)
	}
}

func TestProxy(t *testing.T) {
	asked := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Host }))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := &rebinding{first: []string{"127.0.0.9"}, then: []string{"10.0.0.1"}}
	s := NewSender(SenderConfig{Guard: &netguard.Guard{Allow: loopback, Resolver: r}, Proxy: u})
	if _, err := s.Send(t.Context(), message("http://hooks.test/")); err != nil || <-asked != "hooks.test" {
		t.Errorf("through the proxy: %v", err)
	}
	if _, err := s.Send(t.Context(), message("http://hooks.test/")); err == nil || err.Code != app.EForbidden {
		t.Errorf("a private address through the proxy: %v", err)
	}
}

func TestBodies(t *testing.T) {
	d := webhook.DueDelivery{Format: webhook.HookSlack, To: "ops@example.com", What: app.Notice{Tenant: "acme", Kind: app.NoticeLease, Title: "Ends <soon> & *now*\nhey",
		Text: "<!channel> look", About: app.ClusterSubject("web"), Act: app.Subject{Kind: app.SubjectLeaseExtension, ID: "web"}, ActionName: "Extend"}}
	for format, want := range map[webhook.Format]string{
		webhook.HookSlack: `{"text":"*Ends \u0026lt;soon\u0026gt; \u0026amp; ∗now∗ hey*\n\u0026lt;!channel\u0026gt; look\n\u003chttps://m.test/clusters/web/extend|Extend\u003e · \u003chttps://m.test/clusters/web|Open\u003e"}`,
		webhook.HookMail: `{"subject":"[Muster] Ends \u003csoon\u003e \u0026 *now* hey","text":"Ends \u003csoon\u003e \u0026 *now* hey\n\n\u003c!channel\u003e look\n\nExtend: https://m.test/clusters/web/extend\n\n` +
			`More: https://m.test/clusters/web\n\n-- \nMuster, tenant acme\n","to":"ops@example.com"}`,
		webhook.HookMuster: `{"type":"lease","timestamp":"0001-01-01T00:00:00Z","data":{"id":0,"at":"0001-01-01T00:00:00Z","tenant":"acme","kind":"lease","title":"Ends \u003csoon\u003e \u0026 *now* hey",` +
			`"text":"\u003c!channel\u003e look","path":"/clusters/web","action":"/clusters/web/extend","action_name":"Extend","url":"https://m.test/clusters/web","action_url":"https://m.test/clusters/web/extend"}}`,
	} {
		d.Format = format
		if b, err := body(d, portalAt("https://m.test/")); err != nil || string(b) != want {
			t.Errorf("%s: %s (%v)", format, b, err)
		}
	}
	d.What.Text, d.What.Title = strings.Repeat("ä", 1<<20), strings.Repeat("ö", 1<<20)
	d.What.Users = make([]string, 100_000)
	if b, err := body(d, portalAt("")); err != nil || len(b) > webhook.MaxHookBody {
		t.Errorf("a huge notice has %d bytes (%v)", len(b), err)
	}
}

// A request that is cut short by the end of the server tells so, and soon.
func TestCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rec := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ got) { cancel(); <-r.Context().Done() })
	if _, err := sender(0).Send(ctx, message(rec.srv.URL)); err == nil || err.Code != app.ETransient {
		t.Error(err)
	}
}
