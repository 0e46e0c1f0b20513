package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// got is a message that a receiver has read and found to be signed.
type got struct {
	id, title string
	header    http.Header
	body      []byte
}

// receiver takes messages on loopback. It verifies signatures by itself, as the documents of Standard Webhooks say, and
// answers as scripted.
type receiver struct {
	t      *testing.T
	srv    *httptest.Server
	secret string // whsec_…
	answer func(w http.ResponseWriter, r *http.Request, g got)

	mu  sync.Mutex
	all []got
	in  chan got
}

func newReceiver(t *testing.T, answer func(http.ResponseWriter, *http.Request, got)) *receiver {
	t.Helper()
	r := &receiver{t: t, secret: "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 32))), answer: answer, in: make(chan got, 1000)}
	r.srv = httptest.NewServer(r)
	t.Cleanup(func() { r.srv.CloseClientConnections(); r.srv.Close() })
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Errorf("the body could not be read: %v", err)
	}
	// header names are those that the standard returns
	id, stamp := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.secret, "whsec_"))
	if err != nil {
		r.t.Error(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + stamp + "." + string(body)))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	signed := false
	for one := range strings.SplitSeq(req.Header.Get("webhook-signature"), " ") {
		signed = signed || hmac.Equal([]byte(one), []byte(want))
	}
	if !signed || id == "" || req.Method != "POST" || req.Header.Get("Content-Type") != "application/json" {
		r.t.Errorf("a message %s %q is not signed: %v", req.Method, id, req.Header)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	g := got{id: id, header: req.Header, body: body}
	var e struct {
		Type string
		Data struct{ Title, URL string }
	}
	if json.Unmarshal(body, &e) == nil {
		g.title = e.Data.Title
	}
	r.mu.Lock()
	r.all = append(r.all, g)
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, req, g)
	}
	r.in <- g
}

// next returns the next message that was answered.
func (r *receiver) next() got {
	r.t.Helper()
	select {
	case g := <-r.in:
		return g
	case <-time.After(hangs):
		r.t.Fatal("nothing came")
		return got{}
	}
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
