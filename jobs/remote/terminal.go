package remote

import (
	"context"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"

	"muster/app"
	"muster/app/family"
)

// Connect implements family.Connector.
func Connect(ctx context.Context, t family.NodeTarget) (family.NodeConnection, error) {
	return Dial(ctx, Target{Address: t.Address, Port: t.Port, User: t.User, HostKey: t.HostKey, PrivateKey: t.PrivateKey,
		Certificate: t.Certificate, Guard: t.Dial})
}

// certified returns a signer that shows the certificate with its key.
func (t Target) certified(key ssh.Signer) (ssh.Signer, error) {
	if t.Certificate == "" {
		return key, nil
	}
	k, _, _, _, err := ssh.ParseAuthorizedKey([]byte(t.Certificate))
	cert, is := k.(*ssh.Certificate)
	if err != nil || !is {
		return nil, app.Errorf(app.EInternal, "can't read the certificate for %s", t)
	}
	s, err := ssh.NewCertSigner(cert, key)
	if err != nil {
		return nil, app.Errorf(app.EInternal, "the certificate for %s is of another key", t)
	}
	return s, nil
}

// terminal is a session with a terminal.
type terminal struct{ ch ssh.Channel }

var _ family.Terminal = terminal{}

// terminalType is what programs think they write to.
const terminalType = "xterm-256color"

// ptyRequest and windowChange are of RFC 4254, sections 6.2 and 6.7.
type (
	ptyRequest struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}
	windowChange struct{ Columns, Rows, Width, Height uint32 }
)

// Terminal implements family.NodeConnection. It ends with the connection, with Close, or with its program.
func (c *Conn) Terminal(ctx context.Context, o family.TerminalOptions) (family.Terminal, error) {
	type result struct {
		t   terminal
		err error
	}
	opened := make(chan result, 1)
	go func() {
		ch, err := c.openTerminal(o)
		opened <- result{terminal{ch}, err}
	}()
	var err error
	select {
	case r := <-opened:
		if r.err == nil {
			return r.t, nil
		}
		return nil, c.openError(ctx, r.err)
	case <-c.gone:
		err = c.lost(nil)
	case <-ctx.Done():
		err = ended(ctx, "opening a terminal")
	}
	go func() { // one that is opened too late is closed
		select {
		case r := <-opened:
			if r.err == nil {
				_ = r.t.Close()
			}
		case <-c.gone:
		}
	}()
	return nil, err
}

func (c *Conn) openTerminal(o family.TerminalOptions) (ssh.Channel, error) {
	ch, reqs, err := c.open()
	if err != nil {
		return nil, err
	}
	go ssh.DiscardRequests(reqs)
	fail := func(err error) (ssh.Channel, error) {
		_ = ch.Close()
		if err == nil {
			err = errRefused
		}
		return nil, err
	}
	p := ptyRequest{Term: terminalType, Columns: uint32(o.Size.Columns), Rows: uint32(o.Size.Rows), Modes: "\x00"} //nolint:gosec // sizes are bounded
	if ok, err := ch.SendRequest("pty-req", true, ssh.Marshal(&p)); err != nil || !ok {
		return fail(err)
	}
	kind, payload := "shell", []byte(nil)
	if strings.TrimSpace(o.Line) != "" {
		kind, payload = "exec", ssh.Marshal(struct{ Line string }{o.Line})
	}
	if ok, err := ch.SendRequest(kind, true, payload); err != nil || !ok {
		return fail(err)
	}
	return ch, nil
}

func (t terminal) Read(b []byte) (int, error) { return t.ch.Read(b) }

func (t terminal) Write(b []byte) (int, error) { return t.ch.Write(b) }

// Close implements family.Terminal. Closing one that has ended does no harm.
func (t terminal) Close() error {
	if err := t.ch.Close(); err != nil && err != io.EOF { //nolint:errorlint // as the library returns it
		return err
	}
	return nil
}

// Resize implements family.Terminal.
func (t terminal) Resize(s family.TerminalSize) error {
	_, err := t.ch.SendRequest("window-change", false, ssh.Marshal(&windowChange{Columns: uint32(s.Columns), Rows: uint32(s.Rows)})) //nolint:gosec // bounded
	return err
}
