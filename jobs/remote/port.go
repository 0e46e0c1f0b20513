package remote

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
	"muster/app/family"
)

var _ family.PortDialer = (*Conn)(nil)

// directTCP is a channel to a port, as in RFC 4254, section 7.2.
type directTCP struct {
	Host       string
	Port       uint32
	Origin     string
	OriginPort uint32
}

// DialPort implements family.PortDialer.
func (c *Conn) DialPort(ctx context.Context, address string) (net.Conn, error) {
	host, text, err := net.SplitHostPort(address)
	port, bad := strconv.ParseUint(text, 10, 16)
	if err != nil || bad != nil || port == 0 {
		return nil, app.Errorf(app.EInvalid, "%q isn't a valid address and port.", address)
	}
	type result struct {
		ch  ssh.Channel
		err error
	}
	opened := make(chan result, 1)
	go func() {
		ch, reqs, err := c.conn.OpenChannel("direct-tcpip", ssh.Marshal(&directTCP{Host: host, Port: uint32(port), Origin: "127.0.0.1"}))
		if err == nil {
			go ssh.DiscardRequests(reqs)
		}
		opened <- result{ch, err}
	}()
	select {
	case r := <-opened:
		if r.err != nil {
			return nil, c.portError(address, r.err)
		}
		return &portConn{r.ch, address}, nil
	case <-c.gone:
		err = c.lost(nil)
	case <-ctx.Done():
		err = ended(ctx, "connecting to "+address)
	}
	go func() { // one that is opened too late is closed
		select {
		case r := <-opened:
			if r.err == nil {
				_ = r.ch.Close()
			}
		case <-c.gone:
		}
	}()
	return nil, err
}

func (c *Conn) portError(address string, err error) error {
	var refused *ssh.OpenChannelError
	switch {
	case !errors.As(err, &refused):
		return c.lost(err)
	case refused.Reason == ssh.ConnectionFailed:
		return &app.Error{Code: app.ETransient, Reason: family.PortClosed, Message: "Nothing listens on " + address + " of the node.", Err: err}
	}
	return &app.Error{Code: app.EForbidden, Reason: "no_forwarding", Message: "The node's SSH server doesn't let ports be forwarded.",
		Hint: "Set AllowTcpForwarding yes in its sshd_config.", Err: err}
}

// portConn is a connection to a port. It has no deadlines.
type portConn struct {
	ssh.Channel
	address string
}

type portAddr string

func (portAddr) Network() string  { return "tcp" }
func (a portAddr) String() string { return string(a) }

func (p *portConn) LocalAddr() net.Addr              { return portAddr("127.0.0.1:0") }
func (p *portConn) RemoteAddr() net.Addr             { return portAddr(p.address) }
func (p *portConn) SetDeadline(time.Time) error      { return nil }
func (p *portConn) SetReadDeadline(time.Time) error  { return nil }
func (p *portConn) SetWriteDeadline(time.Time) error { return nil }
