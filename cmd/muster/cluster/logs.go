package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/cluster"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// Reading logs.
const (
	logPage = 1000
	logPace = 300 * time.Millisecond // between polls for new lines
)

func LogsCommand(c *cli.Context) *cobra.Command {
	var (
		f      cluster.LogFilter
		follow bool
		tail   int
	)
	cmd := &cobra.Command{
		Use:   "logs ID|NAME",
		Short: "Show the logs of a cluster's steps",
		Long:  "Show the logs of a cluster's steps. With --format json, each line is a JSON object.",
		Args:  cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("tail") && (tail < 1 || tail > 5000) {
				return cli.Usagef("--tail must be from 1 to 5000")
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], true)
			if err != nil {
				return err
			}
			r := &logReader{cli: c, client: cl, id: v.ID, filter: f}
			if tail > 0 {
				err = r.tail(cmd.Context(), tail)
			} else {
				err = r.drain(cmd.Context())
			}
			if err != nil || !follow {
				return err
			}
			return r.follow(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Node, "node", "", "filter by `node`, such as n1")
	flags.StringVar(&f.Step, "step", "", "filter by `step`, such as n1.web.start")
	flags.StringVar(&f.Text, "grep", "", "filter by `text`, ignoring case")
	flags.StringVar((*string)(&f.Stream), "stream", "", "filter by `stream`: stdout, stderr, or muster for Muster's own messages")
	flags.Int64Var(&f.Operation, "operation", 0, "filter by the `number` of an operation")
	flags.BoolVarP(&follow, "follow", "f", false, "stream new lines until the operation finishes")
	flags.IntVar(&tail, "tail", 0, "show only the last `N` lines, at most 5000")
	return cmd
}

// logReader prints a cluster's log lines in order, each once.
type logReader struct {
	cli    *cli.Context
	client *cli.Client
	id     string
	filter cluster.LogFilter
	call   func(ctx context.Context, call func(context.Context) error) error
}

// tail prints the last n lines.
func (r *logReader) tail(ctx context.Context, n int) error {
	f := r.filter
	f.Tail, f.Limit = true, n
	_, err := r.page(ctx, f)
	return err
}

// drain prints new lines until there are no more.
func (r *logReader) drain(ctx context.Context) error {
	for {
		f := r.filter
		f.Limit = logPage
		if n, err := r.page(ctx, f); err != nil || n == 0 {
			return err
		}
	}
}

// page prints one page of lines and remembers where it ended.
func (r *logReader) page(ctx context.Context, f cluster.LogFilter) (int, error) {
	var found activity.LogPage
	ask := func(ctx context.Context) (err error) {
		found, err = r.client.Clusters.Logs(ctx, r.id, f)
		return err
	}
	call := ask
	if r.call != nil {
		call = func(ctx context.Context) error { return r.call(ctx, ask) }
	}
	if err := call(ctx); err != nil {
		return 0, err
	}
	for _, l := range found.Lines {
		r.filter.After = max(r.filter.After, l.Seq)
		if err := printLog(r.cli, l); err != nil {
			return 0, err
		}
	}
	if !f.Tail && found.Next > r.filter.After { // searched up to here
		r.filter.After = found.Next
		return max(len(found.Lines), 1), nil
	}
	return len(found.Lines), nil
}

// follow prints new lines until no operation of the cluster is in progress. It survives restarts of the server.
func (r *logReader) follow(ctx context.Context) error {
	p := &cli.Retrier{Client: r.client, Limit: r.cli.RetryTime, Note: func(text string) { fmt.Fprintln(r.cli.Stderr, "muster: "+text) }}
	r.call = p.Try
	for {
		var v cluster.View
		err := p.Try(ctx, func(ctx context.Context) (err error) {
			v, err = r.client.Clusters.Get(ctx, r.id)
			return err
		})
		if err != nil {
			return err
		}
		op, known := OperationOf(v, 0)
		// Lines are written before their operation ends, so one more poll afterwards finds all of them.
		if err := r.drain(ctx); err != nil || !known || op.Status.Ended() {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(logPace):
		}
	}
}

func printLog(c *cli.Context, l app.LogLine) error {
	if c.JSON() {
		c.Printed = true
		enc := json.NewEncoder(c.Stdout)
		enc.SetEscapeHTML(false)
		return enc.Encode(l) // always on one line
	}
	_, err := fmt.Fprintf(c.Stdout, "%s %s | %s\n", l.At.Local().Format(time.TimeOnly), l.Step, l.Text)
	return err
}
