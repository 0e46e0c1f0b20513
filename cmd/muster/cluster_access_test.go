package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
)

func TestSSHCommandLine(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	wantResult(t, s.muster("cluster", "ssh"), cli.ExitUsage, "", "ID|NAME is required")
	wantResult(t, s.muster("cluster", "ssh", "shop", "n1", "uptime"), cli.ExitUsage, "", "-- uptime")
	wantResult(t, s.muster("cluster", "certificate", "shop"), cli.ExitUsage, "", "--public-key is required")
	t.Setenv("PATH", t.TempDir())
	wantResult(t, s.muster("cluster", "ssh", "shop", "n1"), cli.ExitFailed, "", "ssh isn't installed")
}

func TestCertificateKeepsPrivateKeysHere(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	file := filepath.Join(t.TempDir(), "id")
	for text, says := range map[string]string{"-----BEGIN OPENSSH PRIVATE KEY-----\n": "private key", strings.Repeat("x", cluster.MaxKeyFile+1): "too large"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		wantResult(t, s.muster("cluster", "certificate", "shop", "--public-key", file), cli.ExitUsage, "", says)
	}
	if n := s.wasAsked("POST /clusters/c1/certificate"); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
}

func TestVisited(t *testing.T) {
	node := func(name, address, key string, status app.NodeStatus) app.Node {
		return app.Node{Name: name, Status: status, HostKey: key, Addresses: map[string]string{app.AddressAccess: address}}
	}
	v := appcluster.View{Nodes: []app.Node{node("n1", "", "ssh-ed25519 AAAA", app.NodePlanned), node("n2", "10.0.0.2", "", app.NodeCreated),
		node("n3", "10.0.0.3", "ssh-ed25519 AAAA", app.NodeReady), node("n4", "-oProxyCommand=x", "ssh-ed25519 AAAA", app.NodeReady)}}
	for name, want := range map[string]string{"": "n3", "n3": "n3", "n1": "", "n2": "", "n4": "", "n9": ""} {
		n, err := cluster.Visited(v, name)
		if n.Name != want || (err == nil) != (want != "") || err != nil && app.CodeOf(err) != app.ENotFound {
			t.Errorf("%q returns %q, %v", name, n.Name, err)
		}
	}
	if _, err := cluster.Visited(appcluster.View{}, ""); app.CodeOf(err) != app.EConflict {
		t.Error(err)
	}
}
