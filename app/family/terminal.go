package family

import (
	"context"
	"io"
	"net"
)

// NodeTarget is a node to sign in to for a person, with a key and its certificate.
type NodeTarget struct {
	Address     string
	Port        int // 0 means 22
	User        string
	HostKey     string // authorized_keys form of the only key to accept
	PrivateKey  []byte // OpenSSH PEM
	Certificate string // authorized_keys form
	// Dial opens the connection that SSH goes over.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Connector signs in to a node. A machine that isn't there is ETransient, one with another host key EHostKey, one that refuses the certificate
// ECredentials.
type Connector func(ctx context.Context, t NodeTarget) (NodeConnection, error)

// NodeConnection is an open SSH connection.
type NodeConnection interface {
	Shell
	// Terminal runs a command line in a terminal; "" is the login shell.
	Terminal(ctx context.Context, o TerminalOptions) (Terminal, error)
	Done() <-chan struct{} // closed when it has ended
	Close() error
}

// TerminalSize is a size in characters.
type TerminalSize struct {
	Columns int `json:"cols"`
	Rows    int `json:"rows"`
}

// TerminalOptions are of a new terminal.
type TerminalOptions struct {
	Size TerminalSize
	Line string
}

// Terminal is a running terminal. Read returns io.EOF when its program has ended. One goroutine may read while another writes.
type Terminal interface {
	io.ReadWriteCloser
	Resize(s TerminalSize) error
}

// PortClosed is the reason of DialPort's error for a port on which nothing listens.
const PortClosed = "port_closed"

// PortDialer is a NodeConnection over which addresses that the node reaches are reached.
type PortDialer interface {
	// DialPort connects to an address as seen from the node, such as "127.0.0.1:8080". Its connection has no deadlines: Close ends what waits.
	// ETransient, reason PortClosed, where nothing listens there; EForbidden where the node's SSH server doesn't allow it.
	DialPort(ctx context.Context, address string) (net.Conn, error)
}
