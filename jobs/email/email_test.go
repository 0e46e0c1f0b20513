package email

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/apptest"
	"muster/app/identity"
	"muster/app/notification"
	"muster/app/store"
	"muster/app/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func plainSecret(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte("\x00" + user + "\x00" + password))
}

// certificate returns a server's configuration for a host, and a client's that trusts it.
func certificate(t *testing.T, host string) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: roots}
}

// known is a client of a fake that is known by a host name.
func (f *fakeServer) known(url string) *Server {
	f.t.Helper()
	s, err := ParseURL(url)
	if err != nil {
		f.t.Fatal(err)
	}
	s.Password, s.From = f.password, mail.Address{Name: "Muster", Address: "muster@example.com"}
	s.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, f.address)
	}
	return &s
}

type bench struct {
	*testing.T
	s     *store.Store
	clock *apptest.Clock
	log   bytes.Buffer
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, s: storetest.Open(t), clock: apptest.NewClock()}
	for _, name := range []string{"ada", "eve"} {
		b.must(b.s.CreateUser(t.Context(), identity.User{Tenant: "t", Name: name, FullName: "Áda \"Bcc: x\"", Email: name + "@example.com", Role: app.RoleUser,
			PasswordHash: "x", CreatedAt: b.clock.Now()}))
	}
	b.must(b.s.KeepEmail(t.Context(), "server", b.clock.Now()))
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) tell(title, text string, users ...string) {
	b.Helper()
	b.must(b.s.Notify(b.Context(), app.Notice{At: b.clock.Now(), Tenant: "t", Kind: app.NoticeReady, Title: title, Text: text, Users: users,
		About: app.ClusterSubject("web-1")}))
}

type noMasks struct{}

func (noMasks) MaskNotices(context.Context, app.Actor, []app.Notice) error { return nil }

func (b *bench) mailer(name string, s *Server) *Mailer {
	return &Mailer{Name: name, ServerID: "server", Installation: "i", Store: b.s, Server: s,
		Notice: notification.New(notification.Config{Masks: noMasks{}}).EmailNotice,
		Log:    slog.New(slog.NewTextHandler(&b.log, nil)), Now: b.clock.Now,
		Chance: func() float64 { return 0 },
		Links: func() Links {
			return Links{Base: "https://muster.test/", Preferences: "/account/notifications", Page: func(notification.Email) string { return "/clusters/web-1" }}
		}}
}

func (b *bench) round(m *Mailer) {
	b.Helper()
	_, err := m.round(b.Context())
	b.must(err)
}

// Emails are sent encrypted and authenticated, and to strangers not otherwise.
func TestEmailsAreSentSafely(t *testing.T) {
	server, client := certificate(t, "mail.test")
	_, stranger := certificate(t, "mail.test")
	for _, c := range []struct {
		name, url string
		fake      *fakeServer
		trust     *tls.Config
		sent      bool
		says      string
	}{
		{"STARTTLS", "smtp://bot@mail.test:587", &fakeServer{tls: server, user: "bot", password: "pa ss"}, client, true, ""},
		{"TLS", "smtps://mail.test", &fakeServer{tls: server, implicit: true}, client, true, ""},
		{"this host needs no encryption", "smtp://127.0.0.1:25", &fakeServer{}, nil, true, ""},
		{"no STARTTLS", "smtp://mail.test", &fakeServer{}, client, false, "doesn't offer STARTTLS"},
		{"another certificate", "smtp://mail.test", &fakeServer{tls: server}, stranger, false, "certificate isn't trusted"},
		{"another name", "smtp://other.test", &fakeServer{tls: server}, client, false, "certificate"},
		{"wrong password", "smtp://eve@mail.test", &fakeServer{tls: server, user: "bot", password: "pa ss"}, client, false, "refused the user name or password"},
		{"unknown person", "smtp://127.0.0.1", &fakeServer{refuse: map[string]string{"RCPT": "550 5.1.1 no such person"}}, nil, false, "no such person"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.fake.start(t)
			s := c.fake.known(c.url)
			s.Trust = c.trust
			b.tell("web is ready.", "", "ada")
			b.round(b.mailer("a", s))
			mails, to := c.fake.got()
			if sent := len(mails) == 1; sent != c.sent || sent && to[0] != "ada@example.com" {
				t.Errorf("sent %q to %q", mails, to)
			}
			if !strings.Contains(b.log.String(), c.says) || strings.Contains(b.log.String(), "pa ss") {
				t.Errorf("the log says %s", b.log.String())
			}
		})
	}
}

// read parses a message as a mail program does.
func read(t *testing.T, text string) (h mail.Header, parts map[string]string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("it is %q, %v", kind, err)
	}
	parts = map[string]string{}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return m.Header, parts
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			t.Fatal(err)
		}
		parts[strings.SplitN(p.Header.Get("Content-Type"), ";", 2)[0]] = string(body)
	}
}

// Nothing in a notification or a name adds a header or HTML.
func TestEmailsSayWhatTheyAre(t *testing.T) {
	b := newBench(t)
	f := (&fakeServer{}).start(t)
	b.tell("wéb is\r\nBcc: all@example.com\u2028\x00ready.", "<b>One</b>\n.\r\nQUIT\n\u202eTwo", "ada")
	b.round(b.mailer("a", f.known("smtp://127.0.0.1")))
	mails, _ := f.got()
	if len(mails) != 1 {
		t.Fatalf("%d emails", len(mails))
	}
	h, parts := read(t, mails[0])
	subject, err := (&mime.WordDecoder{}).DecodeHeader(h.Get("Subject"))
	b.must(err)
	to, err := h.AddressList("To")
	b.must(err)
	if subject != "wéb is Bcc: all@example.com ready." || len(to) != 1 || to[0].Address != "ada@example.com" || to[0].Name != `Áda "Bcc: x"` {
		t.Errorf("subject %q to %+v", subject, to)
	}
	if len(h) != 9 || h.Get("List-Unsubscribe") != "<https://muster.test/account/notifications>" || h.Get("From") != `"Muster" <muster@example.com>` ||
		!strings.HasSuffix(h.Get("Message-ID"), "@muster.test>") || h.Get("Auto-Submitted") != "auto-generated" {
		t.Errorf("the headers are %v", h)
	}
	for kind, want := range map[string][]string{
		"text/plain": {"wéb is Bcc", "<b>One</b>\n.\nQUIT\n", "View details: https://muster.test/clusters/web-1\n",
			"Notification preferences: https://muster.test/account/notifications\n"},
		"text/html": {"&lt;b&gt;One&lt;/b&gt;<br>.<br>QUIT<br>", `href="https://muster.test/clusters/web-1"`, `href="https://muster.test/account/notifications"`},
	} {
		for _, w := range want {
			if !strings.Contains(strings.ReplaceAll(parts[kind], "\r\n", "\n"), w) {
				t.Errorf("%s lacks %q: %s", kind, w, parts[kind])
			}
		}
	}
}

// A server that dies before it learns what came of an email sends it again, under the same Message-ID; otherwise each is sent once.
func TestEmailsAreSentOnce(t *testing.T) {
	b := newBench(t)
	f := (&fakeServer{drop: true}).start(t)
	one, two := b.mailer("a", f.known("smtp://127.0.0.1")), b.mailer("b", f.known("smtp://127.0.0.1"))
	b.tell("web is ready.", "", "ada")
	b.round(one)
	b.round(two) // it's being waited for
	if mails, _ := f.got(); len(mails) != 1 {
		t.Fatalf("%d emails", len(mails))
	}
	f.set(func() { f.drop = false })
	b.clock.Move(6 * time.Second)
	b.tell("shop is ready.", "", "eve", "ada")
	b.round(two)
	b.round(one)
	b.clock.Move(25 * time.Hour)
	b.round(one)
	mails, to := f.got()
	if fmt.Sprint(to) != "[ada@example.com ada@example.com ada@example.com eve@example.com]" {
		t.Fatalf("sent to %v", to)
	}
	first, _ := read(t, mails[0])
	again, _ := read(t, mails[1])
	other, _ := read(t, mails[2])
	hers, _ := read(t, mails[3])
	if id := first.Get("Message-ID"); again.Get("Message-ID") != id || other.Get("Message-ID") == id || hers.Get("Message-ID") == other.Get("Message-ID") {
		t.Errorf("the IDs are %q, %q, %q, %q", id, again.Get("Message-ID"), other.Get("Message-ID"), hers.Get("Message-ID"))
	}
}

// A server that is away is tried again for a day, and what it refuses for good isn't.
func TestEmailsAreTriedAgain(t *testing.T) {
	b := newBench(t)
	f := (&fakeServer{refuse: map[string]string{"MAIL": "451 4.3.0 later"}}).start(t)
	m := b.mailer("a", f.known("smtp://127.0.0.1"))
	b.tell("web is ready.", "", "ada")
	for range 5 {
		b.round(m)
		b.clock.Move(time.Hour)
	}
	f.set(func() { f.refuse = nil })
	off := false
	_, err := notification.New(notification.Config{Store: b.s, Now: b.clock.Now, Masks: noMasks{}}).SaveNotificationPreferences(t.Context(),
		app.Actor{Tenant: "t", User: "eve", Role: app.RoleUser}, []notification.Change{{Kind: app.NoticeReady, Email: &off}})
	b.must(err)
	b.round(m)
	if mails, _ := f.got(); len(mails) != 1 {
		t.Fatalf("%d emails", len(mails))
	}
	if n := strings.Count(b.log.String(), "couldn't be sent"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
	f.set(func() { f.refuse = map[string]string{"MAIL": "451 4.3.0 later"} })
	b.tell("late", "", "ada")
	b.clock.Move(25 * time.Hour)
	b.round(m)
	f.set(func() { f.refuse = nil })
	b.clock.Move(time.Hour)
	b.round(m)
	if mails, _ := f.got(); len(mails) != 1 {
		t.Errorf("%d emails, one of them too late", len(mails))
	}
}

func TestParseURL(t *testing.T) {
	for text, want := range map[string]string{
		"smtp://mail.test": "mail.test:587", "smtps://a@mail.test": "mail.test:465", "smtp://[::1]:25": "::1:25",
		"": "", "mail.test:25": "", "https://mail.test": "", "smtp://a:b@mail.test": "", "smtp://mail.test/x": "", "smtp://mail.test?tls=off": "",
	} {
		s, err := ParseURL(text)
		if got := s.Host + ":" + s.Port; err == nil && got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q, %v", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "a:b") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
