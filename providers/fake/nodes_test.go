//go:build unix

package fake_test

import (
	"os"
	"path/filepath"
	"testing"

	"muster/app/family"
	"muster/jobs/remote"
	"muster/providers/fake"
)

func TestNodesAcceptSSH(t *testing.T) {
	dir := t.TempDir()
	nodes := fake.NewNodes(dir)
	defer func() { _ = nodes.Close() }()
	c := fake.New("c")
	c.Bind(nodes.Bind)
	private, public, err := remote.Keys{}.NewKey("test")
	if err != nil {
		t.Fatal(err)
	}
	s := spec(t, "a")
	s.AuthorizedKey = public
	m, err := c.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	at := remote.Target{Address: m.Addresses["access_v4"], Port: m.SSHPort, User: m.SSHUser, HostKey: m.HostKey, PrivateKey: private}
	conn, err := remote.Dial(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if exit, err := conn.Run(t.Context(), family.Command{Line: "echo x >>$HOME/effects; exit 3"}, nil); exit != 3 || err != nil {
		t.Fatalf("exit %d, %v", exit, err)
	}
	nodes.LoseExits(1)
	if exit, err := conn.Run(t.Context(), family.Command{Line: "echo x >>$HOME/effects"}, nil); err == nil || nodes.LostExits() != 1 {
		t.Errorf("the end was heard: %d, %v", exit, err)
	}
	effects, _ := filepath.Glob(filepath.Join(dir, "*", "*", "home", "effects"))
	if len(effects) != 1 {
		t.Fatalf("effects: %v", effects)
	}
	if b, err := os.ReadFile(effects[0]); string(b) != "x\nx\n" {
		t.Errorf("%q, %v", b, err)
	}
	nodes.Keep(c.Machines())
	c.Vanish(m.ID)
	nodes.Keep(c.Machines())
	if conn, err := remote.Dial(t.Context(), at); err == nil {
		_ = conn.Close()
		t.Error("a machine that is gone answers")
	}
}
