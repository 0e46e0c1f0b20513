package connect

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
	"muster/jobs/remote"

	"github.com/spf13/cobra"
)

// SSHCommand opens a shell on a node, or runs a command there.
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
			return openShell(cmd.Context(), c, args[0], node, command, through)
		},
	}
	cmd.Flags().BoolVar(&through, "through-server", false, "connect through the server, for nodes that this host doesn't reach")
	return cmd
}

// openShell runs ssh with its files in a directory that is removed afterwards.
func openShell(ctx context.Context, c *cli.Context, of, name string, command []string, through bool) error {
	program, err := exec.LookPath("ssh")
	if err != nil {
		return &app.Error{Code: app.EInvalid, Message: "ssh isn't installed", Hint: "Install the OpenSSH client, or use another client with: muster cluster certificate"}
	}
	cl, v, err := cluster.ConnectTo(ctx, c, of, false)
	if err != nil {
		return err
	}
	n, err := cluster.Visited(v, name)
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
	for name, text := range map[string]string{"key": string(private), "key-cert.pub": cert.Certificate + "\n", "known_hosts": cluster.KnownHosts([]app.Node{n})} {
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	args := []string{"-F", "none", "-i", file("key"), "-p", strconv.Itoa(cluster.SSHPort(n)), "-l", cmp.Or(n.SSHUser, cert.User)}
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
func proxyLine(self, of, node, tenant string) string {
	words := []string{self, "cluster", "connect", of, node}
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
