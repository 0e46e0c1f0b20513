//go:build unix

package main

import (
	"net"
	"sync"
)

// proxy is the network between two processes: it can lose everything that is sent without a word, or end all connections.
type proxy struct {
	to       string
	listener net.Listener
	work     sync.WaitGroup

	mu    sync.Mutex
	wake  *sync.Cond // when hole or down change
	hole  bool
	down  bool
	conns map[net.Conn]struct{}
}

// newProxy begins to listen on a free port of 127.0.0.1.
func newProxy(to string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{to: to, listener: l, conns: map[net.Conn]struct{}{}}
	p.wake = sync.NewCond(&p.mu)
	p.work.Go(p.accept)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.serve(c) })
	}
}

func (p *proxy) serve(c net.Conn) {
	defer c.Close()
	if !p.hold(c) {
		return
	}
	d, err := net.Dial("tcp", p.to)
	if err != nil {
		p.release(c)
		return
	}
	defer d.Close()
	if !p.hold(d) {
		p.release(c)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.carry(c, d) })
	both.Go(func() { p.carry(d, c) })
	both.Wait()
	p.release(c, d)
}

// carry copies until either side ends; what comes while the network is a hole waits there, as packets do that are sent
// again until someone hears them.
func (p *proxy) carry(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for p.hole && !p.down {
			p.wake.Wait()
		}
		p.mu.Unlock()
		if n > 0 {
			if _, werr := to.Write(buffer[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.hole && !p.down {
		p.wake.Wait()
	}
	if p.down {
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *proxy) release(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.conns, c)
	}
}

// blackHole lets nothing through, or everything again. Connections stay.
func (p *proxy) blackHole(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hole = yes
	p.wake.Broadcast()
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *proxy) close() {
	p.mu.Lock()
	p.down = true
	p.wake.Broadcast()
	p.mu.Unlock()
	_ = p.listener.Close()
	p.cut()
	p.work.Wait()
}
