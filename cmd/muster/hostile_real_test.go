//go:build real

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
)

const idleConnections = 10_000

// A server continues to answer while thousands of connections say nothing, a few bytes now and then, or more than it takes, and it
// ends those that never come to the point.
func TestRealHostileConnectionsAreSurvived(t *testing.T) {
	t.Parallel()
	p := newProcess(t)
	site := strings.TrimPrefix(p.client().Settings().URL, "http://")
	before := p.resident()

	open := func() net.Conn {
		t.Helper()
		c, err := (&net.Dialer{Timeout: hangs}).DialContext(t.Context(), "tcp", site)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	// A body of 10 MB is refused before it was sent, at each door.
	for _, door := range []string{"/api/v1/clusters", "/signin", "/worker/v1/claim"} {
		c := open()
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", door, site, 10<<20)
		_ = c.SetReadDeadline(time.Now().Add(hangs))
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("%s: no answer to a body that never comes: %v", door, err)
			continue
		}
		if resp.StatusCode != http.StatusRequestEntityTooLarge && resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: 10 MB are answered %s", door, resp.Status)
		}
		_ = resp.Body.Close()
	}

	all := make([]net.Conn, idleConnections)
	for i := range all {
		all[i] = open()
	}
	stop := make(chan struct{})
	var slow sync.WaitGroup
	for i := range 500 { // of them, some send a byte of a request now and then
		slow.Go(func() {
			for j := 0; ; j++ {
				text := "GET /signin HTTP/1.1\r\nHost: x\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				if _, err := all[i].Write([]byte{text[j%len(text)]}); err != nil {
					return
				}
				select {
				case <-stop:
					return
				case <-time.After(500 * time.Millisecond):
				}
			}
		})
	}
	for i := 500; i < 1000; i++ { // and some begin a body, and then nothing
		fmt.Fprintf(all[i], "POST /signin HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nuser=", site)
	}
	began, worst := time.Now(), time.Duration(0)
	for range 50 {
		at := time.Now()
		if _, err := p.client().Clusters.List(t.Context(), app.ClusterFilter{}); err != nil {
			t.Fatalf("with %d connections open: %v", len(all), err)
		}
		worst = max(worst, time.Since(at))
	}
	held := p.resident()
	t.Logf("%d connections: %d MB more, the slowest of 50 answers came after %s", len(all), (held-before)>>20, worst.Round(time.Millisecond))
	if held-before > 1<<30 {
		t.Errorf("the connections cost %d MB", (held-before)>>20)
	}
	// Who has sent no whole request is sent away, soon enough for no one to collect connections.
	for i, c := range all {
		_ = c.SetReadDeadline(began.Add(2 * hangs))
		if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Fatalf("connection %d is open after %s", i, 2*hangs)
		}
	}
	close(stop)
	slow.Wait()
	t.Logf("all were ended by the server after %s", time.Since(began).Round(time.Second))
}

// resident is the memory of the server, in bytes.
func (p *process) resident() int64 {
	p.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	var size, pages int64
	if _, e := fmt.Sscan(string(b), &size, &pages); err != nil || e != nil {
		p.t.Fatal(err, e)
	}
	return pages * int64(os.Getpagesize())
}
