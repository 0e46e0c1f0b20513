package blob

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
)

// proxy is what git speaks through: it connects to what may be spoken to, whatever names lead to by then, and to nothing else.
type proxy struct {
	url    string
	server *http.Server
	dial   func(ctx context.Context, plain bool, address string) (net.Conn, error)

	mu  sync.Mutex
	err error // the last refusal
}

func startProxy(dial func(ctx context.Context, plain bool, address string) (net.Conn, error)) (*proxy, error) {
	if dial == nil {
		var d net.Dialer
		dial = func(ctx context.Context, _ bool, address string) (net.Conn, error) {
			return d.DialContext(ctx, "tcp", address)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("blob: proxy: %w", err)
	}
	p := &proxy{url: "http://" + l.Addr().String(), dial: dial}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

// Close ends it with its connections.
func (p *proxy) Close() { _ = p.server.Close() }

func (p *proxy) refused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *proxy) connect(ctx context.Context, plain bool, address string) (net.Conn, error) {
	c, err := p.dial(ctx, plain, address)
	if err != nil {
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
	}
	return c, err
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		t := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return p.connect(ctx, true, address) }}
		(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: t}).ServeHTTP(w, r)
		return
	}
	out, err := p.connect(r.Context(), false, r.Host)
	if err != nil {
		http.Error(w, "connections to this address aren't allowed", http.StatusForbidden)
		return
	}
	defer out.Close()
	in, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer in.Close()
	if _, err := io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(out, in)
		_ = out.Close() // who asks is gone, and waits for no answer
	}()
	_, _ = io.Copy(in, out)
	_ = in.Close()
	<-done
}
