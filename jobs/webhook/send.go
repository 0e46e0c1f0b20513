package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/netguard"
	"muster/app/webhook"
)

// The limits of one request.
const (
	// sendTime is how long a request may take, from the look-up of the name to the end of the answer.
	sendTime = 10 * time.Second
	maxRead  = 64 << 10 // of an answer's body
	maxHead  = 32 << 10 // of its header
)

// Message is one body on its way to one address.
type Message struct {
	ID      string // the same at every try
	URL     string
	Body    []byte // JSON
	Secrets [][]byte
	Header  map[string]string // instead of a signature, where the receiver knows us by a token
}

// answer is what a receiver said.
type answer struct {
	Status   int    // 0: nothing
	Text     string // the beginning of the body, at most app.ResponseKept bytes
	Duration time.Duration
	body     []byte // at most maxRead bytes
}

// SenderConfig is what a sender is made of.
type SenderConfig struct {
	Guard   *netguard.Guard // nil: what is public, over https
	Proxy   *url.URL        // that all requests go through; nil: none
	Roots   *x509.CertPool  // nil: those of the system
	Version string
	Now     func() time.Time // nil: time.Now
	Time    time.Duration    // how long a request may take; 0: sendTime
}

// Sender posts messages. It keeps no connection open. Its methods may be called from many goroutines.
type Sender struct {
	guard   *netguard.Guard
	proxied bool
	http    *http.Client
	agent   string
	now     func() time.Time
	time    time.Duration
}

// NewSender makes a sender.
func NewSender(c SenderConfig) *Sender {
	s := &Sender{guard: c.Guard, proxied: c.Proxy != nil, agent: "Muster/" + c.Version, now: c.Now, time: c.Time}
	if s.guard == nil {
		s.guard = &netguard.Guard{}
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.time == 0 {
		s.time = sendTime
	}
	t := &http.Transport{
		DialContext:            s.guard.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true, // one tenant's connection serves no other
		DisableCompression:     true, // what is small on the wire stays small here
		MaxResponseHeaderBytes: maxHead,
	}
	if c.Proxy != nil {
		t.Proxy, t.DialContext = http.ProxyURL(c.Proxy), nil // the operator named it
	}
	s.http = &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s
}

// Send posts a message. The error says in words why it was not taken: EForbidden for an address that may not be spoken to,
// ETransient and ETimeout where no one answered, EHostKey for a certificate that does not fit, ECredentials for 401 and 403,
// ENotFound with the reason "gone" for 410, ERateLimit for 429, EInvalid for any other answer that trying again cannot help.
func (s *Sender) Send(ctx context.Context, m Message) (answer, *app.Error) {
	began := time.Now()
	a, err := s.send(ctx, m)
	a.Duration = time.Since(began)
	return a, err
}

func (s *Sender) send(ctx context.Context, m Message) (a answer, _ *app.Error) {
	ctx, cancel := context.WithTimeout(ctx, s.time)
	defer cancel()
	if len(m.Body) > webhook.MaxHookBody {
		return a, app.Errorf(app.ETooLarge, "The message is larger than %s.", humanize.Bytes(webhook.MaxHookBody))
	}
	u, err := url.Parse(m.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return a, app.Errorf(app.EInvalid, "The webhook's URL is invalid.")
	}
	ctx = netguard.Plain(ctx, u.Scheme == "http")
	if s.proxied {
		// The proxy looks the name up for itself; what we can tell is refused all the same.
		if _, err := s.guard.LookUp(ctx, u.Hostname(), u.Scheme == "http"); app.CodeOf(err) == app.EForbidden {
			return a, app.AsError(err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return a, app.Errorf(app.EInvalid, "The webhook's URL is invalid.")
	}
	now := s.now()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.agent)
	for name, value := range m.Header {
		r.Header.Set(name, value)
	}
	if m.Header == nil {
		r.Header[HeaderID] = []string{m.ID}
		r.Header[HeaderTimestamp] = []string{strconv.FormatInt(now.Unix(), 10)}
		r.Header[HeaderSignature] = []string{Sign(m.ID, now, m.Body, m.Secrets...)}
	}
	resp, err := s.http.Do(r)
	if err != nil {
		return a, s.failed(ctx, u, err)
	}
	defer resp.Body.Close()
	// What is cut short or comes too slowly after the status does not change what the status said.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRead))
	a.Status, a.Text, a.body = resp.StatusCode, readable(body), body
	return a, judge(resp, now)
}

// readable returns the beginning of an answer as text.
func readable(b []byte) string {
	cut := len(b) > webhook.ResponseKept
	if cut {
		b = b[:webhook.ResponseKept]
	}
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, text)
}

// failed says why there was no answer, without the URL.
func (s *Sender) failed(ctx context.Context, u *url.URL, err error) *app.Error {
	var known *app.Error
	var wrapped *url.Error
	if errors.As(err, &known) {
		return known
	}
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	host := u.Hostname()
	var (
		timeout     net.Error
		authority   x509.UnknownAuthorityError
		name        x509.HostnameError
		invalid     x509.CertificateInvalidError
		certificate *tls.CertificateVerificationError
		refused     *net.OpError
	)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return app.Errorf(app.ETimeout, "%s didn't respond within %s.", host, humanize.Exact(s.time))
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &name), errors.As(err, &invalid):
		return &app.Error{Code: app.EHostKey, Reason: "certificate", Message: host + " couldn't prove its identity: " + clip(err.Error()),
			Hint: "Its certificate must be valid and trusted by the server's host."}
	case errors.As(err, &refused) && refused.Op == "dial":
		return app.Errorf(app.ETransient, "Can't connect to %s: %s.", host, clip(refused.Err.Error()))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return app.Errorf(app.ETransient, "%s closed the connection without a response.", host)
	}
	return app.Errorf(app.ETransient, "%s sent an invalid response: %s.", host, clip(err.Error()))
}

// clip keeps what strangers say short and on one line.
func clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return strings.TrimSuffix(text, ".")
}

// judge says what a status means; nil: it was taken.
func judge(r *http.Response, now time.Time) *app.Error {
	e := &app.Error{Code: app.EInvalid, Message: "The receiver responded " + strings.TrimSpace(strconv.Itoa(r.StatusCode)+" "+http.StatusText(r.StatusCode)) + "."}
	switch c := r.StatusCode; {
	case c >= 200 && c < 300:
		return nil
	case c >= 300 && c < 400:
		e.Reason, e.Hint = "redirect", "Redirects aren't followed. Set the webhook's URL to the final address."
	case c == http.StatusUnauthorized, c == http.StatusForbidden:
		e.Code = app.ECredentials
	case c == http.StatusGone:
		e.Code, e.Reason = app.ENotFound, "gone"
	case c == http.StatusRequestTimeout:
		e.Code, e.RetryAfter = app.ETimeout, retryAfter(r, now)
	case c == http.StatusTooManyRequests:
		e.Code, e.RetryAfter = app.ERateLimit, retryAfter(r, now)
	case c >= 500 || c < 200:
		e.Code, e.RetryAfter = app.ETransient, retryAfter(r, now)
	}
	return e
}

// retryAfter reads the header of that name, in seconds or as a date; 0 where there is none that can be read.
func retryAfter(r *http.Response, now time.Time) time.Duration {
	text := strings.TrimSpace(r.Header.Get("Retry-After"))
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(n, 0), int(2*webhook.DeliveryTime/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), 2*webhook.DeliveryTime)
	}
	return 0
}
