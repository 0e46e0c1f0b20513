package main

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"muster/app"
	"muster/app/tunnel"
)

// A server without workers reaches nodes through a provisioner, in another process over TLS: what the node says comes through, both ways, until
// either side ends.
func TestConnectionsThroughAProvisioner(t *testing.T) {
	t.Parallel()
	w := newFleetServer(t, "")
	w.start("h1")
	node, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	go func() {
		for {
			c, err := node.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, io.MultiReader(strings.NewReader("SSH-2.0-node\n"), c)); _ = c.Close() }()
		}
	}()
	dial := w.server.Services.Tunnel.Dial
	r := tunnel.Request{Tenant: app.DefaultTenant, Address: node.Addr().String()}
	for range 3 {
		c, err := dial(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(c)
		if line, err := in.ReadString('\n'); line != "SSH-2.0-node\n" {
			t.Fatalf("%q, %v", line, err)
		}
		long := strings.Repeat("x", 200<<10) + "\n"
		go func() { _, _ = io.WriteString(c, long) }()
		if line, err := in.ReadString('\n'); line != long {
			t.Errorf("%d bytes came back, %v", len(line), err)
		}
		_ = c.Close()
	}
	_ = node.Close()
	if _, err := dial(t.Context(), r); app.AsError(err).Reason != "no_answer" {
		t.Errorf("a node that is gone: %v", err)
	}
	r.Guarded = true // a tenant decided the address, which is of the provisioner's own host
	if _, err := dial(t.Context(), r); err == nil || app.AsError(err).Reason == "no_provisioner" {
		t.Errorf("a tenant's address on the provisioner's host: %v", err)
	}
}
