package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/run"
	"muster/cmd/muster/cli"
)

// Reading output.
const (
	page = 1000
	pace = 300 * time.Millisecond // between polls for new lines
)

// follower prints each line of a command's output once. It survives restarts of the server.
type follower struct {
	cli       *cli.Context
	client    *cli.Client
	id        string
	operation int64
	after     int64
	width     int // of the nodes' names
}

func (f *follower) run(ctx context.Context) (run.View, error) {
	r := &cli.Retrier{Client: f.client, Limit: f.cli.RetryTime, Note: func(text string) { fmt.Fprintln(f.cli.Stderr, "muster: "+text) }}
	for {
		var v run.View
		err := r.Try(ctx, func(ctx context.Context) (err error) {
			v, err = f.client.Runs.Get(ctx, f.id, f.operation)
			return err
		})
		if err != nil {
			return v, err
		}
		for _, n := range v.Results {
			f.width = max(f.width, len(n.Node))
		}
		// Lines are written before their operation ends, so one more look afterwards finds all of them.
		if err := f.drain(ctx, r); err != nil || v.Operation.Status.Ended() {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, ctx.Err()
		case <-time.After(pace):
		}
	}
}

// drain prints new lines until there are no more.
func (f *follower) drain(ctx context.Context, r *cli.Retrier) error {
	for {
		var found activity.LogPage
		err := r.Try(ctx, func(ctx context.Context) (err error) {
			found, err = f.client.Clusters.Logs(ctx, f.id, cluster.LogFilter{Operation: f.operation, After: f.after, Limit: page})
			return err
		})
		if err != nil {
			return err
		}
		for _, l := range found.Lines {
			f.after = max(f.after, l.Seq)
			if err := f.line(l); err != nil {
				return err
			}
		}
		if len(found.Lines) == 0 && found.Next <= f.after {
			return nil
		}
		f.after = max(f.after, found.Next)
	}
}

// line prints a line: errors, and what Muster itself says, to the standard error.
func (f *follower) line(l app.LogLine) error {
	if f.cli.JSON() {
		return f.encode(l)
	}
	var w io.Writer = f.cli.Stdout
	if l.Stream != family.StreamOut {
		w = f.cli.Stderr
	}
	_, err := fmt.Fprintf(w, "%-*s | %s\n", f.width, l.Node, l.Text)
	return err
}

func (f *follower) encode(v any) error {
	f.cli.Printed = true
	enc := json.NewEncoder(f.cli.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v) // always on one line
}

// table says how the command ended on each node.
func table(c *cli.Context, v run.View) error {
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\nNODE\tRESULT\tTIME\n")
	for _, r := range v.Results {
		took := "–"
		if !r.StartedAt.IsZero() && r.EndedAt.After(r.StartedAt) {
			took = humanize.Duration(r.EndedAt.Sub(r.StartedAt))
		}
		text := r.Words()
		if r.Exit < 0 && r.Error != "" && r.State == app.StepFailed {
			text += ": " + r.Error
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Node, text, took)
	}
	return w.Flush()
}
