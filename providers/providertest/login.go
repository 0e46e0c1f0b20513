package providertest

import (
	"cmp"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

func (h Harness) login(t *testing.T) {
	if !h.Login {
		t.Skip("machines of this member do not answer")
	}
	p := h.Open(t)
	spec, keys := h.Spec(t, "door")
	m := Eventually(t, p, create(t, p, spec).ID)

	if out := login(t, m, keys, "echo hello; echo oops >&2"); out != "hello" {
		t.Errorf("the machine says %q, want %q", out, "hello")
	}
	if m.OwnRoot {
		if out := login(t, m, keys, "hostname"); out != spec.Hostname {
			t.Errorf("hostname %q, want %q", out, spec.Hostname)
		}
	}
	_, stranger := newKey(t)
	if c, err := dial(m, Keys{Host: keys.Host, Client: stranger}); err == nil {
		_ = c.Close()
		t.Error("the machine lets a stranger in")
	}
	_, impostor := newKey(t)
	if c, err := dial(m, Keys{Host: impostor, Client: keys.Client}); err == nil {
		_ = c.Close()
		t.Error("the machine's host key is not the one that it was given")
	}
}

// Dial logs in with the given keys and holds the machine to its host key. It keeps trying for a while, since a new
// machine need not answer yet.
func Dial(t testing.TB, m app.Machine, k Keys) *ssh.Client {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c, err := dial(m, k)
		if err == nil {
			return c
		}
		if time.Now().After(deadline) {
			t.Fatalf("log in to %s: %v", m.ID, err)
		}
	}
}

func dial(m app.Machine, k Keys) (*ssh.Client, error) {
	address := net.JoinHostPort(m.Addresses["access_v4"], strconv.Itoa(cmp.Or(m.SSHPort, 22)))
	return ssh.Dial("tcp", address, &ssh.ClientConfig{
		User:            cmp.Or(m.SSHUser, "root"),
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(k.Client)},
		HostKeyCallback: ssh.FixedHostKey(k.Host.PublicKey()),
		Timeout:         5 * time.Second,
	})
}

// login runs one command and gives its standard output without the last line break.
func login(t testing.TB, m app.Machine, k Keys, command string) string {
	t.Helper()
	c := Dial(t, m, k)
	defer func() { _ = c.Close() }()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Output(command)
	if err != nil {
		t.Fatalf("%s: %q: %v", m.ID, command, err)
	}
	return strings.TrimSpace(string(out))
}
