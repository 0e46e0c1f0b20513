package conformance

import (
	"cmp"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app/family"
)

func (h Harness[S]) login(t S) {
	if !h.Login {
		t.Skip("the member's machines don't accept SSH")
	}
	p := h.Open(t)
	spec, keys := h.Spec(t, "door")
	m := h.eventually(t, p, create(t, p, spec).ID)

	if out := h.ask(t, m, keys, "echo hello; echo oops >&2"); out != "hello" {
		t.Errorf("the machine responds %q, want %q", out, "hello")
	}
	if m.OwnRoot {
		if out := h.ask(t, m, keys, "hostname"); out != spec.Hostname {
			t.Errorf("hostname %q, want %q", out, spec.Hostname)
		}
	}
	_, stranger := newKey(t)
	if c, err := dial(m, Keys{Host: keys.Host, Client: stranger}); err == nil {
		_ = c.Close()
		t.Error("the machine accepts a stranger's key")
	}
	_, impostor := newKey(t)
	other := m
	other.HostKey = AuthorizedKey(impostor.PublicKey())
	if c, err := dial(other, Keys{Host: impostor, Client: keys.Client}); err == nil {
		_ = c.Close()
		t.Error("the machine's host key isn't the given one")
	}
}

// Dial logs in with the given keys and holds the machine to its host key. It keeps trying for a while, since a new
// machine need not answer yet.
func Dial(t TB, m family.Machine, k Keys) *ssh.Client {
	t.Helper()
	return dialFor(t, m, k, usualPatience, usualPause)
}

func dialFor(t TB, m family.Machine, k Keys, patience, pause time.Duration) *ssh.Client {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		c, err := dial(m, k)
		if err == nil {
			return c
		}
		if time.Now().After(deadline) || t.Context().Err() != nil {
			t.Fatalf("log in to %s: %v", m.ID, err)
		}
	}
}

func dial(m family.Machine, k Keys) (*ssh.Client, error) {
	// A machine that tells its host key is held to that: the suite compares it with the one that was given, where it was given one.
	host := k.Host.PublicKey()
	if m.HostKey != "" {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(m.HostKey))
		if err != nil {
			return nil, err
		}
		host = key
	}
	address := net.JoinHostPort(m.Addresses["access_v4"], strconv.Itoa(cmp.Or(m.SSHPort, 22)))
	return ssh.Dial("tcp", address, &ssh.ClientConfig{
		User:            cmp.Or(m.SSHUser, "root"),
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(k.Client)},
		HostKeyCallback: ssh.FixedHostKey(host),
		Timeout:         5 * time.Second,
	})
}

// ask logs in, runs one command and returns its standard output without the last line break.
func (h Harness[S]) ask(t TB, m family.Machine, k Keys, command string) string {
	t.Helper()
	c := dialFor(t, m, k, h.patience(), h.pause())
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
