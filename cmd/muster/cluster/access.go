package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/sshaccess"
	"muster/cmd/muster/cli"
	"muster/jobs/remote"

	"github.com/spf13/cobra"
)

// MaxKeyFile is how much is read of a file that should hold a public key.
const MaxKeyFile = 16 << 10

func clusterCertificateCommand(c *cli.Context) *cobra.Command {
	var file, ttl string
	cmd := &cobra.Command{
		Use:   "certificate ID|NAME --public-key FILE",
		Short: "Get a short-lived SSH certificate for the nodes of a cluster",
		Long: "Get a short-lived SSH certificate for your public key, which signs you in to the nodes of a cluster. The certificate is written beside\n" +
			"the key, where ssh finds it: id_ed25519-cert.pub for id_ed25519.pub. With --public-key -, the key is read from stdin and the\n" +
			"certificate is written to stdout.",
		Args: cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return cli.Usagef("--public-key is required").Hint("For example: muster cluster certificate %s --public-key ~/.ssh/id_ed25519.pub", args[0])
			}
			key, err := publicKey(c, file)
			if err != nil {
				return err
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			cert, err := cl.Clusters.Certificate(cmd.Context(), v.ID, key, ttl)
			if err != nil {
				return err
			}
			return keepCertificate(c, file, cert)
		},
	}
	cmd.Flags().StringVar(&file, "public-key", "", "`file` with the public key, or - for stdin")
	cmd.Flags().StringVar(&ttl, "ttl", "", "how long the certificate is valid: a `duration` of at most 8h (default 1h)")
	return cmd
}

// publicKey reads a public key file.
func publicKey(c *cli.Context, file string) (string, error) {
	in := c.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, MaxKeyFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > MaxKeyFile {
		return "", cli.Usagef("%s is too large to be a public key", file)
	}
	if strings.Contains(string(b), "PRIVATE KEY") { // it must not leave this host
		return "", cli.Usagef("%s is a private key", file).Hint("Use the public key, which usually ends in .pub.")
	}
	return string(b), nil
}

// keepCertificate writes the certificate beside its key.
func keepCertificate(c *cli.Context, file string, cert sshaccess.ClusterCertificate) error {
	if c.JSON() {
		return c.PrintJSON(cert)
	}
	if file == "-" {
		_, err := fmt.Fprintln(c.Bytes(), cert.Certificate)
		return err
	}
	to := strings.TrimSuffix(file, ".pub") + "-cert.pub"
	if err := cli.WritePrivate(to, []byte(cert.Certificate+"\n")); err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "Wrote certificate %s: sign in as %s until %s\n", to, cert.User, cert.ValidUntil.Local().Format(time.DateTime))
	return nil
}

// visitTime is how long the certificate of one visit is valid. It's checked at sign-in only; an open session continues.
const visitTime = "5m"

func SSHCommand(c *cli.Context) *cobra.Command {
	var through bool
	cmd := &cobra.Command{
		Use:   "ssh ID|NAME [NODE] [-- COMMAND...]",
		Short: "Open a shell on a node, or run a command there",
		Long: "Open a shell on a node of a cluster, or run a command there. NODE defaults to the first node. Each session uses a new key and a\n" +
			"certificate that is valid for 5 min; both are deleted afterwards. The exit code is that of ssh.",
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args = args[:dash]
			}
			if len(args) == 0 {
				return cli.Usagef("ID|NAME is required").Hint("Usage: %s", cmd.UseLine())
			}
			if len(args) > 2 {
				return cli.Usagef("unexpected argument %q", args[2]).Hint("Put a command after --: muster cluster ssh %s %s -- %s", args[0], args[1],
					strings.Join(args[2:], " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var command []string
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args, command = args[:dash], args[dash:]
			}
			node := ""
			if len(args) > 1 {
				node = args[1]
			}
			return visit(cmd.Context(), c, args[0], node, command, through)
		},
	}
	cmd.Flags().BoolVar(&through, "through-server", false, "connect through the server, for nodes that this host doesn't reach")
	return cmd
}

// visit runs ssh with its files in a directory that is removed afterwards.
func visit(ctx context.Context, c *cli.Context, cluster, name string, command []string, through bool) error {
	program, err := exec.LookPath("ssh")
	if err != nil {
		return &app.Error{Code: app.EInvalid, Message: "ssh isn't installed", Hint: "Install the OpenSSH client, or use another client with: muster cluster certificate"}
	}
	cl, v, err := ConnectTo(ctx, c, cluster, false)
	if err != nil {
		return err
	}
	n, err := Visited(v, name)
	if err != nil {
		return err
	}
	private, public, err := remote.Keys{}.NewKey("")
	if err != nil {
		return err
	}
	cert, err := cl.Clusters.Certificate(ctx, v.ID, public, visitTime)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // closing the terminal must not leave the key behind
	defer stop()
	dir, err := os.MkdirTemp("", "muster-ssh-") // readable by us only
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"key": string(private), "key-cert.pub": cert.Certificate + "\n", "known_hosts": KnownHosts([]app.Node{n})} {
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	args := []string{"-F", "none", "-i", file("key"), "-p", strconv.Itoa(SSHPort(n)), "-l", cmp.Or(n.SSHUser, cert.User)}
	for _, option := range []string{
		"CertificateFile=" + quoted(file("key-cert.pub")), "IdentitiesOnly=yes", "IdentityAgent=none", "UserKnownHostsFile=" + quoted(file("known_hosts")),
		"GlobalKnownHostsFile=none", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "PreferredAuthentications=publickey", "LogLevel=ERROR",
	} {
		args = append(args, "-o", option)
	}
	if through {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		args = append(args, "-o", "ProxyCommand="+proxyLine(self, v.ID, n.Name, cl.ActIn))
	}
	args = append(append(args, "--", n.Address(app.AddressAccess)), command...)
	run := exec.CommandContext(ctx, program, args...)
	run.Stdin, run.Stdout, run.Stderr = c.Stdin, cli.Raw(c.Stdout), cli.Raw(c.Stderr) // unchanged, as from ssh itself
	if through {
		at := cl.Settings()
		run.Env = append(os.Environ(), "MUSTER_URL="+at.URL, "MUSTER_TOKEN="+at.Token, "MUSTER_CA_FINGERPRINT="+at.CA)
	}
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
	run.WaitDelay = 5 * time.Second
	err = run.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() > 0 {
		return cli.ExitError(ended.ExitCode())
	}
	return err
}

// proxyLine is the command with which ssh connects through the server. Its environment says which server, and has the token.
func proxyLine(self, cluster, node, tenant string) string {
	words := []string{self, "cluster", "connect", cluster, node}
	if tenant != "" {
		words = append(words, "--tenant", tenant)
	}
	for i, w := range words {
		words[i] = strings.ReplaceAll(humanize.ShellQuote(w), "%", "%%") // which ssh expands
	}
	return strings.Join(words, " ")
}

// quoted quotes a file name for an ssh option, which ssh splits at spaces.
func quoted(file string) string {
	if strings.ContainsAny(file, " \t") {
		return `"` + file + `"`
	}
	return file
}

// Visited returns the named node, which has an address and a host key.
func Visited(v appcluster.View, name string) (app.Node, error) {
	var names []string
	for _, n := range reachableNodes(v) {
		if n.HostKey == "" {
			continue
		}
		if name == "" || n.Name == name {
			return n, nil
		}
		names = append(names, n.Name)
	}
	if len(names) == 0 {
		return app.Node{}, &app.Error{Code: app.EConflict, Message: fmt.Sprintf("cluster %s has no reachable machine", v.Name),
			Hint: "See: muster cluster show " + v.Name}
	}
	return app.Node{}, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("node %[2]s of cluster %[1]s doesn't exist or isn't reachable", v.Name, name),
		Hint: "Reachable: " + strings.Join(names, ", ")}
}
