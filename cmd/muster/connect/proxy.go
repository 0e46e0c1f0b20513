package connect

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"muster/app"
	"muster/cmd/muster/cli"
	"muster/portal/wire"

	"github.com/spf13/cobra"
)

func proxyCommand(c *cli.Context) *cobra.Command {
	var listen, via string
	cmd := &cobra.Command{
		Use:   "proxy ID|NAME",
		Short: "Run a SOCKS proxy into the network of a cluster",
		Long: "Run a SOCKS5 proxy on this host into the network of a cluster, through the server and the provisioner that reaches it, until Ctrl-C.\n" +
			"Names of the cluster's nodes lead to these nodes; other names and addresses are reached from the node of --via, which resolves them.",
		Example: "  muster cluster proxy shop\n  curl --proxy socks5h://127.0.0.1:1080 http://n1:8080/",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newVisits(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			defer s.close()
			if via == "" && len(s.now().Nodes) > 0 {
				via = s.now().Nodes[0].Name
			}
			if via, err = nodeOf(s.now(), via); err != nil {
				return err
			}
			if _, err := s.to(cmd.Context(), via); err != nil {
				return err
			}
			return s.proxy(cmd.Context(), c, listen, via)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:1080", "`address:port` of this host to listen on; port 0 picks a free one")
	cmd.Flags().StringVar(&via, "via", "", "`node` from which other addresses are reached (default: the first node)")
	return cmd
}

func (s *visits) proxy(ctx context.Context, c *cli.Context, listen, via string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return &app.Error{Code: app.EConflict, Message: "can't listen on " + listen + ": " + reason(err), Hint: "Choose another address with --listen."}
	}
	fmt.Fprintf(c.Stdout, "SOCKS proxy at socks5h://%s, into the network of %s. Ctrl-C stops it.\n", l.Addr(), s.now().Name)
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	var work sync.WaitGroup
	defer work.Wait()
	for {
		in, err := accept(l)
		if err != nil {
			return nil
		}
		work.Go(func() {
			defer in.Close()
			_ = in.SetDeadline(time.Now().Add(socksTime))
			out, err := s.socks(ctx, in, via)
			if err != nil {
				if ctx.Err() == nil {
					fmt.Fprintln(c.Stderr, "muster: "+app.AsError(err).ForPeople())
				}
				return
			}
			_ = in.SetDeadline(time.Time{})
			defer context.AfterFunc(ctx, func() { _ = in.Close(); _ = out.Close() })()
			wire.Join(in, out)
		})
	}
}

// Of SOCKS 5 (RFC 1928): only connections, without a password.
const (
	socksTime    = 30 * time.Second
	socksVersion = 5
	noPassword   = 0
	connectTo    = 1
	kindIPv4     = 1
	kindName     = 3
	kindIPv6     = 4
	answerOK     = 0
	answerFailed = 4 // host unreachable
	answerKind   = 7 // command not supported
)

// socks reads what a client wants, and connects to it.
func (s *visits) socks(ctx context.Context, in net.Conn, via string) (net.Conn, error) {
	host, port, err := readSocks(in)
	if err != nil {
		return nil, err
	}
	out, err := s.address(ctx, via, host, port)
	answer := byte(answerOK)
	if err != nil {
		answer = answerFailed
	}
	if _, e := in.Write(socksAnswer(answer)); e != nil && err == nil {
		_ = out.Close()
		err = e
	}
	return out, err
}

func socksAnswer(code byte) []byte { return []byte{socksVersion, code, 0, kindIPv4, 0, 0, 0, 0, 0, 0} }

// readSocks reads the greeting and the request.
func readSocks(in io.ReadWriter) (host string, port int, err error) {
	b := make([]byte, 256)
	read := func(n int) bool { _, err = io.ReadFull(in, b[:n]); return err == nil }
	if !read(2) || b[0] != socksVersion || !read(int(b[1])) {
		return "", 0, app.Errorf(app.EInvalid, "not a SOCKS5 client")
	}
	if _, err := in.Write([]byte{socksVersion, noPassword}); err != nil {
		return "", 0, err
	}
	if !read(4) {
		return "", 0, err
	}
	command, kind := b[1], b[3]
	switch kind {
	case kindIPv4, kindIPv6:
		n := net.IPv4len
		if kind == kindIPv6 {
			n = net.IPv6len
		}
		if !read(n) {
			return "", 0, err
		}
		host = net.IP(b[:n]).String()
	case kindName:
		if !read(1) {
			return "", 0, err
		}
		n := int(b[0])
		if n == 0 || !read(n) {
			return "", 0, app.Errorf(app.EInvalid, "a SOCKS request without a name")
		}
		host = string(b[:n])
	default:
		return "", 0, app.Errorf(app.EInvalid, "an unknown kind of address")
	}
	if !read(2) {
		return "", 0, err
	}
	port = int(binary.BigEndian.Uint16(b))
	if command != connectTo {
		_, _ = in.Write(socksAnswer(answerKind))
		return "", 0, app.Errorf(app.EInvalid, "only connections are supported")
	}
	return host, port, nil
}

// address connects to a node by its name, or to another address from the node via.
func (s *visits) address(ctx context.Context, via, host string, port int) (net.Conn, error) {
	for _, n := range s.now().Nodes {
		if host == n.Name || host == n.Hostname {
			return s.port(ctx, n.Name, port)
		}
	}
	conn, err := s.to(ctx, via)
	if err != nil {
		return nil, err
	}
	return conn.DialPort(ctx, net.JoinHostPort(host, strconv.Itoa(port)))
}
