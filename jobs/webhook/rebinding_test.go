package webhook

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"muster/app"
	"muster/app/netguard"
)

// rebinding answers with one address first and with another one ever after.
type rebinding struct {
	asked       atomic.Int64
	first, then []string
}

func (r *rebinding) LookupNetIP(context.Context, string, string) (list []netip.Addr, err error) {
	texts := r.then
	if r.asked.Add(1) == 1 {
		texts = r.first
	}
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list, nil
}

// A name that leads inside is refused, whatever it led to before; no one is spoken to.
func TestRebinding(t *testing.T) {
	hit := atomic.Int64{}
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit.Add(1) }))
	defer inside.Close()
	_, port, _ := net.SplitHostPort(inside.Listener.Addr().String())
	for _, then := range [][]string{{"127.0.0.1"}, {"::ffff:127.0.0.1"}, {"169.254.169.254", "10.0.0.1", "127.0.0.1"}} {
		r := &rebinding{first: []string{"93.184.215.14"}, then: then}
		g := &netguard.Guard{Resolver: r}
		if _, err := g.LookUp(t.Context(), "rebind.example.com", false); err != nil {
			t.Fatal(err) // looked harmless
		}
		_, err := NewSender(SenderConfig{Guard: g}).Send(t.Context(), Message{ID: "m", URL: "https://rebind.example.com:" + port + "/", Body: []byte("{}")})
		if err == nil || err.Code != app.EForbidden || !strings.Contains(err.Message, "rebind.example.com, which is ") {
			t.Errorf("%v: %v", then, err)
		}
	}
	if hit.Load() != 0 {
		t.Errorf("the server inside was reached %d times", hit.Load())
	}
}

// What was checked is what is spoken to: the name is looked up once for each request.
func TestOneLookup(t *testing.T) {
	rec := newReceiver(t, nil)
	_, port, _ := net.SplitHostPort(rec.srv.Listener.Addr().String())
	r := &rebinding{first: []string{"10.9.9.9", "127.0.0.1"}, then: []string{"10.9.9.9"}}
	_, err := NewSender(SenderConfig{Guard: &netguard.Guard{Allow: loopback, Resolver: r}}).Send(t.Context(),
		Message{ID: "m", URL: "http://mixed.example.com:" + port + "/", Body: []byte("{}"), Secrets: [][]byte{[]byte(strings.Repeat("s", 32))}})
	if err != nil || r.asked.Load() != 1 {
		t.Errorf("%v after %d look-ups", err, r.asked.Load())
	}
}
