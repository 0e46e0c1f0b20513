package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	otel "go.opentelemetry.io/otel/trace"
	"muster/app"
	"muster/app/observe"
	"muster/cmd/muster/observe/trace/otlptest"
)

// collector is one that keeps the requests it gets and the names of spans in them.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	headers []http.Header
	names   []string
}

func newCollector(t *testing.T, start func(*httptest.Server)) *collector {
	c := &collector{}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(body)
		}
		b, _ := io.ReadAll(body)
		all, err := otlptest.Decode(b)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/base/v1/traces" {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.headers = append(c.headers, r.Header)
		for _, from := range all {
			for _, s := range from.ScopeSpans[0].Spans {
				c.names = append(c.names, s.Name)
			}
		}
	}))
	start(c.Server)
	t.Cleanup(c.Close)
	return c
}

// send has a tracer send one span, and returns what its log says.
func send(t *testing.T, endpoint string) string {
	t.Helper()
	var log bytes.Buffer
	tracer, err := Open(Config{Endpoint: endpoint, Service: "s", Version: "v1", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	_, end := tracer.Begin(t.Context(), "work", observe.Attribute{Name: observe.KindAttribute, Value: "client"}, observe.Attribute{Name: "n", Value: 1})
	end(errors.New("secret"))
	if err := errors.Join(tracer.Close(), tracer.Close()); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

func TestSpansCome(t *testing.T) {
	for _, compression := range []string{"", "none", "gzip"} {
		t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", compression)
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "overridden=yes")
		t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "api-key = a%2Cb%3D%20c%25 , X-Scope=1,")
		c := newCollector(t, (*httptest.Server).Start)
		if log := send(t, c.URL+"/base/"); log != "" || len(c.names) != 1 || c.names[0] != "work" {
			t.Fatalf("%v came, and the log says %s", c.names, log)
		}
		h := c.headers[0]
		for name, want := range map[string]string{
			"Api-Key": "a,b= c%", "X-Scope": "1", "Overridden": "", "Content-Type": "application/json", "User-Agent": "muster/v1",
		} {
			if h.Get(name) != want {
				t.Errorf("%s is %q, want %q", name, h.Get(name), want)
			}
		}
		if got := h.Get("Content-Encoding"); (got == "gzip") != (compression == "gzip") {
			t.Errorf("with %q the encoding is %q", compression, got)
		}
	}
}

// writeCertificate makes a certificate of its own authority with its key, as files.
func writeCertificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = writePEM(t, "CERTIFICATE", der), writePEM(t, "PRIVATE KEY", secret)
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return cert, key, pool
}

func writePEM(t *testing.T, kind string, der []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestBothSidesShowCertificates(t *testing.T) {
	cert, key, clients := writeCertificate(t)
	c := newCollector(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		s.StartTLS()
	})
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "600000") // a certificate that isn't trusted is reported at once, not tried for so long
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", cert)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", key)
	if log := send(t, c.URL+"/base"); len(c.names) > 0 || !strings.Contains(log, "certificate") {
		t.Errorf("a collector of an unknown authority got %v; the log says %s", c.names, log)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", writePEM(t, "CERTIFICATE", c.Certificate().Raw))
	if log := send(t, c.URL+"/base"); log != "" || len(c.names) != 1 {
		t.Errorf("%v came; the log says %s", c.names, log)
	}
}

func TestInvalidSettingsAreRefused(t *testing.T) {
	cert, key, _ := writeCertificate(t)
	const p = "OTEL_EXPORTER_OTLP_"
	for _, tt := range []struct {
		endpoint string
		env      map[string]string
		word     string // the variable that is named
	}{
		{"https://c", map[string]string{p + "CERTIFICATE": "/not/there"}, p + "CERTIFICATE"},
		{"https://c", map[string]string{p + "CERTIFICATE": "/not/there", p + "TRACES_CERTIFICATE": key}, p + "TRACES_CERTIFICATE"},
		{"http://c", map[string]string{p + "CERTIFICATE": cert}, "https://"},
		{"https://c", map[string]string{p + "CLIENT_CERTIFICATE": cert}, p + "CLIENT_KEY is not"},
		{"https://c", map[string]string{p + "TRACES_CLIENT_KEY": key}, p + "CLIENT_CERTIFICATE is not"},
		{"https://c", map[string]string{p + "CLIENT_CERTIFICATE": key, p + "CLIENT_KEY": cert}, p + "CLIENT_CERTIFICATE and"},
		{"http://c", map[string]string{p + "CLIENT_CERTIFICATE": cert, p + "CLIENT_KEY": key}, "https://"},
		{"http://c", map[string]string{p + "HEADERS": "secret"}, p + "HEADERS"},
		{"http://c", map[string]string{p + "HEADERS": "a=secret%zz"}, p + "HEADERS"},
		{"http://c", map[string]string{p + "TRACES_HEADERS": "a=secret%0Ab"}, p + "TRACES_HEADERS"},
		{"http://c", map[string]string{p + "HEADERS": "a b=secret"}, p + "HEADERS"},
		{"http://c", map[string]string{p + "TIMEOUT": "10s"}, p + "TIMEOUT"},
		{"http://c", map[string]string{p + "TRACES_TIMEOUT": "0"}, p + "TRACES_TIMEOUT"},
		{"http://c", map[string]string{p + "COMPRESSION": "zstd"}, p + "COMPRESSION"},
		{"c:4318", nil, "http://"},
	} {
		t.Run(tt.word, func(t *testing.T) {
			for name, v := range tt.env {
				t.Setenv(name, v)
			}
			_, err := Open(Config{Endpoint: tt.endpoint})
			if app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), tt.word) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v: %v", tt.env, err)
			}
		})
	}
}

// A roundTrip answers the attempts of an exporter without a network.
type roundTrip func(n int, r *http.Request) (*http.Response, error)

// attempts exports one span by way of a roundTrip and tells when it was asked, from the beginning.
func attempts(t *testing.T, ctx context.Context, trip roundTrip) (at []time.Duration, err error) {
	t.Helper()
	e, err := newExporter(Config{Endpoint: "http://c"})
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	e.client.Transport = transport(func(r *http.Request) (*http.Response, error) {
		b, _ := io.ReadAll(r.Body)
		if _, err := otlptest.Decode(b); err != nil {
			t.Errorf("attempt %d: %v", len(at)+1, err)
		}
		at = append(at, time.Since(begun))
		return trip(len(at), r)
	})
	err = e.ExportSpans(ctx, tracetest.SpanStubs{{Name: "work", SpanContext: otel.SpanContext{}}}.Snapshots())
	return at, errors.Join(err, e.Shutdown(ctx))
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body, after string) (*http.Response, error) {
	h := http.Header{"Location": {"http://elsewhere.example/"}}
	if after != "" {
		h.Set("Retry-After", after)
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// always returns the same answer.
func always(status int, body, after string) roundTrip {
	return func(int, *http.Request) (*http.Response, error) { return answer(status, body, after) }
}

func TestAttempts(t *testing.T) {
	for name, tt := range map[string]struct {
		trip roundTrip
		want int    // attempts; 0: several
		word string // of the error; "" where there is none
	}{
		"taken":                  {always(200, "{}", ""), 1, ""},
		"taken, no JSON":         {always(202, "<p>", ""), 1, ""},
		"all taken":              {always(200, `{"partialSuccess":{"rejectedSpans":"0"}}`, ""), 1, ""},
		"some rejected":          {always(200, `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"old"}}`, ""), 1, `1 of them, "old"`},
		"some rejected, numbers": {always(200, `{"partialSuccess":{"rejectedSpans":1}}`, ""), 1, "1 of them"},
		"refused":                {always(400, "bad", ""), 1, "bad"},
		"broken":                 {always(500, "", ""), 1, "Internal Server Error"},
		"elsewhere":              {always(307, "", ""), 1, "Temporary Redirect"},
		"long":                   {always(403, strings.Repeat("x", 1<<20), ""), 1, "xxx"},
		"not trusted": {func(int, *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Post", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}
		}, 1, "certificate"},
		"doesn't trust us": {func(int, *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Post", Err: &net.OpError{Op: "remote error", Err: tls.AlertError(42)}}
		}, 1, "certificate"},
		"speaks no TLS": {func(int, *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Post", Err: tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}}
		}, 1, "handshake"},
		"away for good": {func(int, *http.Request) (*http.Response, error) { return nil, errors.New("refused") }, 0, "refused"},
		"away for a while": {func(n int, _ *http.Request) (*http.Response, error) {
			if n < 3 {
				return nil, errors.New("refused")
			}
			return answer(200, "", "")
		}, 3, ""},
		"away, then silent": {func(n int, r *http.Request) (*http.Response, error) {
			if n == 1 {
				return nil, errors.New("refused")
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, 2, "refused"},
		"busy": {func(n int, _ *http.Request) (*http.Response, error) {
			return answer([]int{429, 502, 503, 504, 200}[min(n, 5)-1], "", "")
		}, 5, ""},
		"busy for longer than the timeout": {always(503, "", "11"), 1, "Service Unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "busy" {
				t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "30000")
			}
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				at, err := attempts(t, t.Context(), tt.trip)
				if (tt.word == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), tt.word) || len(err.Error()) > 400) {
					t.Errorf("the error is %v", err)
				}
				if tt.want > 0 && len(at) != tt.want || len(at) == 0 || name == "away for good" && (len(at) < 4 || len(at) > 7) {
					t.Errorf("attempts at %v", at)
				}
				if took := time.Since(begun); name != "busy" && took > defaultTimeout {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestALongAnswerIsNotReadToItsEnd(t *testing.T) {
	body := strings.NewReader(strings.Repeat("x", 1<<20))
	_, _ = attempts(t, t.Context(), func(int, *http.Request) (*http.Response, error) {
		r, err := answer(200, "", "")
		r.Body = io.NopCloser(body)
		return r, err
	})
	if read := 1<<20 - body.Len(); read > answerLimit {
		t.Errorf("%d bytes were read", read)
	}
}

func TestACollectorSaysWhenItWantsToBeAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, err := attempts(t, t.Context(), func(n int, _ *http.Request) (*http.Response, error) {
			switch n {
			case 1:
				return answer(429, "", "3")
			case 2:
				return answer(503, "", time.Now().Add(4*time.Second).UTC().Format(http.TimeFormat))
			}
			return answer(200, "", "")
		})
		if err != nil || len(at) != 3 || at[1] != 3*time.Second || at[2] != 7*time.Second {
			t.Errorf("%v, %v", at, err)
		}
	})
}

// A collector that doesn't answer delays a process's end by three seconds, and nothing continues after that.
func TestCloseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer, err := Open(Config{Endpoint: "http://c"})
		if err != nil {
			t.Fatal(err)
		}
		tracer.exporter.client.Transport = transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		_, end := tracer.Begin(t.Context(), "work")
		end(nil)
		begun := time.Now()
		if err := tracer.Close(); err != nil || time.Since(begun) > closeTime {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		synctest.Wait()
		if took := time.Since(begun); took > closeTime {
			t.Errorf("the exporter continued for %v", took)
		}
	})
}

// failing takes no spans.
type failing struct{ sdk.SpanExporter }

func (failing) ExportSpans(context.Context, []sdk.ReadOnlySpan) error { return errors.New("away") }

func TestFailuresAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		q := &quiet{SpanExporter: failing{}, log: slog.New(slog.NewTextHandler(&log, nil))}
		for range 5 {
			if err := q.ExportSpans(t.Context(), nil); err != nil {
				t.Error(err)
			}
			time.Sleep(25 * time.Second)
		}
		if n := strings.Count(log.String(), "can't send spans"); n != 2 {
			t.Errorf("logged %d times: %s", n, log.String())
		}
	})
}
