package connect

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
	"muster/jobs/remote"

	"github.com/spf13/cobra"
)

// Commands are the commands of this package.
func Commands(c *cli.Context) []*cobra.Command {
	return []*cobra.Command{SSHCommand(c), streamCommand(c), forwardCommand(c), proxyCommand(c), copyCommand(c)}
}

// streamCommand is for ssh's ProxyCommand.
func streamCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "connect ID|NAME NODE",
		Short: "Connect stdin and stdout to the SSH port of a node through the server",
		Long: "Connect stdin and stdout to the SSH port of a node, through the server and the provisioner that reaches the node. It's meant for ssh's\n" +
			"ProxyCommand and for editors; `muster cluster ssh --through-server` uses it.",
		Example: "  ssh -o ProxyCommand='muster cluster connect shop n1' root@n1",
		Args:    cli.Exactly("ID|NAME", "NODE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := cluster.ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			conn, err := cl.Clusters.Connect(cmd.Context(), v.ID, args[1])
			if err != nil {
				return err
			}
			defer conn.Close()
			defer context.AfterFunc(cmd.Context(), func() { _ = conn.Close() })()
			go func() {
				_, _ = io.Copy(conn, c.Stdin)
				_ = conn.Close() // ssh has ended
			}()
			_, err = io.Copy(c.Bytes(), conn)
			if cmd.Context().Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		},
	}
}

// visits are SSH connections to the nodes of a cluster, through the server. Each is opened when it's first needed, and again when it has ended.
type visits struct {
	cl   *cli.Client
	view appcluster.View

	mu   sync.Mutex
	open map[string]*remote.Conn // by node
}

// visitTime is how long the certificate of a connection is valid. It's checked at sign-in only; an open connection continues.
const visitTime = "5m"

func newVisits(ctx context.Context, c *cli.Context, name string) (*visits, error) {
	cl, v, err := cluster.ConnectTo(ctx, c, name, false)
	if err != nil {
		return nil, err
	}
	return &visits{cl: cl, view: v, open: map[string]*remote.Conn{}}, nil
}

// to returns the connection to a node.
func (s *visits) to(ctx context.Context, name string) (*remote.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if conn := s.open[name]; conn != nil {
		select {
		case <-conn.Done():
			_ = conn.Close()
		default:
			return conn, nil
		}
	}
	n, err := cluster.Visited(s.view, name)
	if err != nil {
		return nil, err
	}
	private, public, err := remote.Keys{}.NewKey("")
	if err != nil {
		return nil, err
	}
	cert, err := s.cl.Clusters.Certificate(ctx, s.view.ID, public, visitTime)
	if err != nil {
		return nil, err
	}
	conn, err := remote.Dial(ctx, remote.Target{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: cmp.Or(n.SSHUser, cert.User), HostKey: n.HostKey,
		PrivateKey: private, Certificate: cert.Certificate,
		Guard: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return s.cl.Clusters.Connect(ctx, s.view.ID, n.Name)
		}})
	if err == nil {
		s.open[name] = conn
	}
	return conn, err
}

// close ends all connections.
func (s *visits) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.open {
		_ = conn.Close()
	}
}
