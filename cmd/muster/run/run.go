package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/run"
	"muster/cmd/muster/cli"
	clustercmd "muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

// Command runs a command on nodes.
func Command(c *cli.Context) *cobra.Command {
	var ask run.Ask
	var detach bool
	cmd := &cobra.Command{
		Use: "run ID|NAME [flags] -- COMMAND [ARGUMENT…]", Short: "Run a command on nodes of a cluster",
		Long: `Run a command on nodes of a cluster, and show what it says as it comes.

The command runs as root where the nodes' user may use sudo. One argument is a shell script; several are the words of one command. It's
kept with its output, and everyone who sees the cluster sees it: don't put secrets in it. The exit code is the worst of all nodes.`,
		Example: "  muster cluster run shop -- uptime\n" +
			"  muster cluster run shop --on service=nginx --batch 1 -- 'nginx -t && systemctl reload nginx'\n" +
			"  muster cluster run shop --on node=n1 --timeout 2h --detach -- /opt/backup.sh",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 || cmd.ArgsLenAtDash() > 1 {
				return cli.Usagef("ID|NAME and COMMAND are required").Hint("For example: muster cluster run shop -- uptime")
			}
			ask.Command = commandOf(args[1:])
			return start(cmd.Context(), c, args[0], ask, detach)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&ask.On, "on", nil, "`KEY=VALUE` that nodes must have: node, service, hardware, image or zone; repeat it for more (default: all nodes)")
	flags.IntVar(&ask.Batch, "batch", 0, "number of `nodes` at a time; if one fails, the rest don't start (default: all)")
	flags.StringVar(&ask.Timeout, "timeout", "", "`time` limit on each node, such as 10m, at most 24h (default: 30m)")
	flags.BoolVar(&detach, "detach", false, "don't wait; see the output later with muster cluster logs")
	return cmd
}

// commandOf is the script of one argument, or a command of several words.
func commandOf(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = humanize.ShellQuote(a)
	}
	return strings.Join(words, " ")
}

func start(ctx context.Context, c *cli.Context, word string, ask run.Ask, detach bool) error {
	if ask.Batch < 0 {
		return cli.Usagef("--batch must be at least 1")
	}
	cl, v, err := clustercmd.ConnectTo(ctx, c, word, false)
	if err != nil {
		return err
	}
	answer, err := cl.Runs.Start(ctx, v.ID, ask)
	switch {
	case err != nil:
		return err
	case answer.Request != nil:
		return c.Say(answer.Request, "Request %d is waiting for approval. Follow it: muster request show %d", answer.Request.ID, answer.Request.ID)
	case detach:
		return c.Say(answer, "Operation %d runs the command. See its output: muster cluster logs %s --operation %d", answer.Operation, v.Name, answer.Operation)
	}
	return follow(ctx, c, cl, v, answer.Operation)
}

// follow shows the output of a command until it has ended, and how it ended on each node.
func follow(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, operation int64) error {
	f := &follower{cli: c, client: cl, id: v.ID, operation: operation, sleep: sleep}
	now, err := f.run(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return &app.Error{Code: app.ECancelled, Message: fmt.Sprintf("stopped watching; the command continues on %s", v.Name),
			Hint: "To stop it: muster cluster cancel " + v.Name}
	case err != nil:
		return err
	case c.JSON():
		err = f.encode(now)
	default:
		err = table(c, now)
	}
	if err != nil || now.Exit == 0 && now.Operation.Status == app.OperationSucceeded {
		return err
	}
	return cli.ExitError(max(now.Exit, 1))
}
