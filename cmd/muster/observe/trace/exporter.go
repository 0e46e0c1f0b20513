package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	answerLimit = 64 << 10 // bytes of a response to read
	firstPause  = 500 * time.Millisecond
	longPause   = 30 * time.Second // longest pause unless the collector requests one
)

// exporter posts spans to a collector in OTLP's JSON encoding. OpenTelemetry's own exporter over HTTP would bring gRPC into the build.
type exporter struct {
	url     string
	header  http.Header
	client  *http.Client
	timeout time.Duration // of a batch with all its attempts
	gzip    bool
	done    context.Context // ends attempts that outlive Close
	end     context.CancelFunc
}

func newExporter(c Config) (*exporter, error) {
	s, err := readSettings(strings.HasPrefix(c.Endpoint, "https:"))
	if err != nil {
		return nil, err
	}
	if s.header.Get("User-Agent") == "" {
		s.header.Set("User-Agent", "muster/"+c.Version)
	}
	s.header.Set("Content-Type", "application/json")
	if s.gzip {
		s.header.Set("Content-Encoding", "gzip")
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = s.tls
	e := &exporter{url: strings.TrimRight(c.Endpoint, "/") + "/v1/traces", header: s.header, timeout: s.timeout, gzip: s.gzip}
	// Headers contain secrets, so don't follow redirects: they may lead to another host.
	e.client = &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	e.done, e.end = context.WithCancel(context.Background())
	return e, nil
}

// ExportSpans sends a batch, with retries until the timeout.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := e.body(spans)
	if err != nil || len(spans) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	defer context.AfterFunc(e.done, cancel)()
	var failed error
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		after, err := e.post(ctx, body)
		if err == nil || after < 0 {
			return err
		}
		if failed == nil || ctx.Err() == nil {
			failed = err // a timed-out attempt says less than the previous one
		}
		wait := max(after, pause/2+rand.N(pause))
		if end, _ := ctx.Deadline(); time.Until(end) < wait {
			return failed
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return failed
		}
	}
}

// Shutdown is called by the SDK after the last batch.
func (e *exporter) Shutdown(context.Context) error {
	e.end()
	e.client.CloseIdleConnections()
	return nil
}

func (e *exporter) body(spans []sdk.ReadOnlySpan) ([]byte, error) {
	body, err := encode(spans)
	if err != nil || !e.gzip {
		return body, err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(body) // writes to a buffer never fail
	_ = z.Close()
	return packed.Bytes(), nil
}

// final means that a retry is pointless.
const final = -1

// post makes one attempt. With an error, it returns the pause that the collector requests, or final.
func (e *exporter) post(ctx context.Context, body []byte) (after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return final, err
	}
	r.Header = e.header.Clone()
	answer, err := e.client.Do(r)
	if untrusted(err) {
		return final, err
	}
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, answerLimit))
	if answer.StatusCode/100 == 2 {
		return final, rejected(text)
	}
	err = fmt.Errorf("the collector answered %s: %.200q", answer.Status, bytes.TrimSpace(text))
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfter(answer.Header.Get("Retry-After")), err
	}
	return final, err
}

// untrusted reports whether one side rejects the other's certificate, or doesn't use TLS. Only a changed setting or certificate fixes that.
func untrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	var refused *net.OpError // an alert of the collector's
	return errors.As(err, &certificate) || errors.As(err, &header) || errors.As(err, &refused) && refused.Op == "remote error" && strings.Contains(err.Error(), "certificate")
}

// rejected reports spans that a collector rejected in a successful response. It ignores responses that aren't JSON.
func rejected(text []byte) error {
	var answer struct {
		PartialSuccess struct {
			RejectedSpans json.Number `json:"rejectedSpans"`
			ErrorMessage  string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(text, &answer) != nil {
		return nil //nolint:nilerr // the status says that the spans were accepted
	}
	n, _ := answer.PartialSuccess.RejectedSpans.Int64()
	if n == 0 {
		return nil
	}
	return fmt.Errorf("the collector rejected spans: %d of them, %.200q", n, answer.PartialSuccess.ErrorMessage)
}

// retryAfter reads the header's seconds or date; 0 for neither.
func retryAfter(header string) time.Duration {
	if n, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
