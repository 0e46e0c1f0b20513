package connect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/cmd/muster/cli"
	"muster/portal/wire"

	"github.com/spf13/cobra"
)

// forwarded is a port of this host that leads to one of a node.
type forwarded struct {
	Local  string // address to listen on
	Node   string
	Remote int
}

func forwardCommand(c *cli.Context) *cobra.Command {
	var bind string
	cmd := &cobra.Command{
		Use:   "forward ID|NAME [LOCAL:]NODE|SERVICE:PORT...",
		Short: "Forward ports of this host to ports of nodes",
		Long: "Forward ports of this host to ports of nodes or services, through the server and the provisioner that reaches them, until Ctrl-C.\n" +
			"SERVICE is the first node that has it. LOCAL is the port of this host (default: the same port); 0 picks a free one.",
		Example: "  muster cluster forward shop web:8080\n  muster cluster forward shop 5433:n2:5432 9000:n1:9000",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usagef("ID|NAME and at least one port are required").Hint("For example: muster cluster forward shop web:8080")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newVisits(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			defer s.close()
			var all []forwarded
			for _, word := range args[1:] {
				f, err := parseForward(s.now(), bind, word)
				if err != nil {
					return err
				}
				all = append(all, f)
			}
			return s.forward(cmd.Context(), c, all)
		},
	}
	cmd.Flags().StringVar(&bind, "bind", "127.0.0.1", "`address` of this host to listen on")
	return cmd
}

// parseForward reads [LOCAL:]NODE|SERVICE:PORT.
func parseForward(v appcluster.View, bind, word string) (forwarded, error) {
	usage := cli.Usagef("%q isn't a port to forward", word).Hint("Use [LOCAL:]NODE:PORT or [LOCAL:]SERVICE:PORT, such as web:8080 or 5433:n2:5432.")
	parts := strings.Split(word, ":")
	if len(parts) == 2 {
		parts = append([]string{parts[1]}, parts...)
	}
	if len(parts) != 3 {
		return forwarded{}, usage
	}
	local, err := strconv.ParseUint(parts[0], 10, 16)
	port, bad := strconv.ParseUint(parts[2], 10, 16)
	if err != nil || bad != nil || port == 0 {
		return forwarded{}, usage
	}
	node, err := nodeOf(v, parts[1])
	if err != nil {
		return forwarded{}, err
	}
	return forwarded{Local: net.JoinHostPort(bind, strconv.FormatUint(local, 10)), Node: node, Remote: int(port)}, nil
}

// nodeOf returns the node of a name, or host name, or the first one that has a service.
func nodeOf(v appcluster.View, word string) (string, error) {
	var names []string
	for _, n := range v.Nodes {
		if n.Name == word || n.Hostname == word {
			return n.Name, nil
		}
		names = append(names, n.Name)
	}
	for _, n := range v.Nodes {
		if slices.Contains(n.Services, word) && n.Status == app.NodeReady {
			return n.Name, nil
		}
	}
	return "", &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("cluster %s has no node and no ready service %q", v.Name, word),
		Hint: "Nodes: " + strings.Join(names, ", ") + ". Services: muster cluster show " + v.Name}
}

// forward serves ports until the context ends.
func (s *visits) forward(ctx context.Context, c *cli.Context, all []forwarded) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	defer work.Wait()
	for _, f := range all {
		if _, err := s.to(ctx, f.Node); err != nil { // problems are said before anything connects
			cancel()
			return err
		}
		l, err := net.Listen("tcp", f.Local)
		if err != nil {
			cancel()
			return &app.Error{Code: app.EConflict, Message: "can't listen on " + f.Local + ": " + reason(err),
				Hint: "Choose another port of this host: LOCAL:NODE:PORT."}
		}
		fmt.Fprintf(c.Stdout, "%s → %s:%d\n", l.Addr(), f.Node, f.Remote)
		context.AfterFunc(ctx, func() { _ = l.Close() })
		work.Go(func() {
			serve(ctx, c, l, func(ctx context.Context) (net.Conn, error) { return s.port(ctx, f.Node, f.Remote) })
		})
	}
	<-ctx.Done()
	return nil
}

func reason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}

// serve connects what comes in.
func serve(ctx context.Context, c *cli.Context, l net.Listener, dial func(context.Context) (net.Conn, error)) {
	var work sync.WaitGroup
	defer work.Wait()
	for {
		in, err := accept(l)
		if err != nil {
			return
		}
		work.Go(func() {
			defer in.Close()
			out, err := dial(ctx)
			if err != nil {
				if ctx.Err() == nil {
					fmt.Fprintln(c.Stderr, "muster: "+app.AsError(err).ForPeople())
				}
				return
			}
			defer context.AfterFunc(ctx, func() { _ = in.Close(); _ = out.Close() })()
			wire.Join(in, out)
		})
	}
}

// port connects to a port of a node: on its loopback, or where nothing listens there, on its own address.
func (s *visits) port(ctx context.Context, node string, port int) (net.Conn, error) {
	conn, err := s.to(ctx, node)
	if err != nil {
		return nil, err
	}
	at := strconv.Itoa(port)
	out, err := conn.DialPort(ctx, net.JoinHostPort("127.0.0.1", at))
	if err == nil || app.AsError(err).Reason != family.PortClosed {
		return out, err
	}
	for _, n := range s.now().Nodes {
		if own := n.Address(app.AddressBind); n.Name == node && own != "" {
			if out, err := conn.DialPort(ctx, net.JoinHostPort(own, at)); err == nil {
				return out, nil
			}
		}
	}
	return nil, &app.Error{Code: app.ETransient, Message: fmt.Sprintf("nothing listens on port %s of %s", at, node)}
}

// accept waits for a connection. Where there are too many for a moment, it tries again; its error says that the listener is closed.
func accept(l net.Listener) (net.Conn, error) {
	for {
		in, err := l.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return in, err
		}
		time.Sleep(acceptPause)
	}
}

// acceptPause is how long to wait for file descriptors.
const acceptPause = 100 * time.Millisecond
