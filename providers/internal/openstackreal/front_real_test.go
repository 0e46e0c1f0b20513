//go:build real && openstack && linux

package openstackreal

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/providers/providertest"
)

// The public endpoints, which the catalog names to people.
const (
	publicKeystone = 5000
	publicNova     = 8774
	publicGlance   = 9292
	publicNeutron  = 9696
)

// front is the cloud's public endpoints: each passes calls to its service, with faults.
type front struct {
	faults *providertest.Faults

	mu      sync.Mutex
	watches []*watched
	late    time.Duration // how much later Nova receives a create than it was sent
	pending sync.WaitGroup
}

// watched is a call that someone waits for.
type watched struct {
	which func(*http.Request) bool
	left  int
	came  chan struct{}
}

// service is what a public endpoint is of.
func service(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	n, _ := strconv.Atoi(port)
	return map[int]string{publicKeystone: "identity", publicNova: "compute", publicGlance: "image", publicNeutron: "network"}[n]
}

// posts reports whether a call is a POST whose path ends with this one.
func posts(path string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, path) }
}

// deletes reports whether a call deletes a server.
func deletes(r *http.Request) bool {
	return r.Method == http.MethodDelete && service(r) == "compute" && strings.Contains(r.URL.Path, "/servers/")
}

func newFront() (*front, error) {
	f := &front{faults: &providertest.Faults{Creates: posts("/servers")}}
	for public, inner := range map[int]int{publicKeystone: portKeystone, publicNova: portNova, publicGlance: portGlance, publicNeutron: portNeutron} {
		to, err := url.Parse(address(inner))
		if err != nil {
			return nil, err
		}
		pass := &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(to)
				r.Out.Host = r.In.Host // links in answers lead here
			},
			// A service that is frozen or restarted has no answer, and the one who asks may have gone.
			ErrorLog: log.New(io.Discard, "", 0),
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(public))
		if err != nil {
			return nil, err
		}
		s := &http.Server{Handler: f.faults.Wrap(f.gate(pass)), ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = s.Serve(l) }()
	}
	return f, nil
}

// tell tells those who wait for a call that it has come, before the service receives it.
func (f *front) tell(r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches = slices.DeleteFunc(f.watches, func(one *watched) bool {
		if one.which(r) {
			one.left--
		}
		if one.left == 0 {
			close(one.came)
		}
		return one.left == 0
	})
}

// nth is closed when the nth call of a kind comes, from now on.
func (f *front) nth(n int, which func(*http.Request) bool) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := &watched{which: which, left: n, came: make(chan struct{})}
	f.watches = append(f.watches, one)
	return one.came
}

// gate passes calls on. It can have Nova receive creates late, also those that no one waits for any more, as a busy proxy or Nova itself does.
func (f *front) gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		late := f.late
		f.mu.Unlock()
		if late == 0 || !f.faults.Creates(r) {
			f.tell(r)
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		f.pending.Add(1)
		defer f.pending.Done()
		f.tell(r)
		time.Sleep(late)
		ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // one that can't be done has the proxy look at the connection
		defer cancel()
		again := r.Clone(ctx)
		again.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, again)
	})
}

// delayCreates sets how late Nova receives creates.
func (f *front) delayCreates(by time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = by
}
