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
	mu   sync.Mutex
	view appcluster.View
	open map[string]*visit // by node
}

// visit is the connection to a node. The lock is held while it's opened.
type visit struct {
	mu   sync.Mutex
	conn *remote.Conn
}

// visitTime is how long the certificate of a connection is valid. It's checked at sign-in only; an open connection continues.
const visitTime = "5m"

func newVisits(ctx context.Context, c *cli.Context, name string) (*visits, error) {
	cl, v, err := cluster.ConnectTo(ctx, c, name, false)
	if err != nil {
		return nil, err
	}
	return &visits{cl: cl, view: v, open: map[string]*visit{}}, nil
}

// to returns the connection to a node. Where the node can't be signed in to as it was, it's looked up again: it may have been repaired.
func (s *visits) to(ctx context.Context, name string) (*remote.Conn, error) {
	s.mu.Lock()
	v := s.open[name]
	if v == nil {
		v = &visit{}
		s.open[name] = v
	}
	s.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conn != nil {
		select {
		case <-v.conn.Done():
			_ = v.conn.Close()
			v.conn = nil
		default:
			return v.conn, nil
		}
	}
	conn, err := s.signIn(ctx, name)
	if code := app.CodeOf(err); code == app.EHostKey || code == app.ETransient || code == app.ENotFound {
		if now, e := s.cl.Clusters.Get(ctx, s.now().ID); e == nil {
			s.mu.Lock()
			s.view = now
			s.mu.Unlock()
			conn, err = s.signIn(ctx, name)
		}
	}
	v.conn = conn
	return conn, err
}

// now is the cluster as last seen.
func (s *visits) now() appcluster.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view
}

func (s *visits) signIn(ctx context.Context, name string) (*remote.Conn, error) {
	view := s.now()
	n, err := cluster.Visited(view, name)
	if err != nil {
		return nil, err
	}
	private, public, err := remote.Keys{}.NewKey("")
	if err != nil {
		return nil, err
	}
	cert, err := s.cl.Clusters.Certificate(ctx, view.ID, public, visitTime)
	if err != nil {
		return nil, err
	}
	conn, err := remote.Dial(ctx, remote.Target{Address: n.Address(app.AddressAccess), Port: n.SSHPort, User: cmp.Or(n.SSHUser, cert.User), HostKey: n.HostKey,
		PrivateKey: private, Certificate: cert.Certificate,
		Guard: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return s.cl.Clusters.Connect(ctx, view.ID, n.Name)
		}})
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// close ends all connections.
func (s *visits) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.open {
		v.mu.Lock()
		if v.conn != nil {
			_ = v.conn.Close()
		}
		v.mu.Unlock()
	}
}
