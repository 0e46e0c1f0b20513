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
	page      = 1000
	leastPace = 300 * time.Millisecond // between reads of new lines
	mostPace  = 2 * time.Second        // once there have been none for a while
)

// follower prints each line of a command's output once. It only asks for lines after the last one, less often while there are none, and survives
// restarts of the server.
type follower struct {
	cli       *cli.Context
	client    *cli.Client
	id        string
	operation int64
	after     int64
	width     int // of the nodes' names
	sleep     func(ctx context.Context, d time.Duration) error
}

// run follows the command to its end, and returns how it ended.
func (f *follower) run(ctx context.Context) (run.View, error) {
	r := &cli.Retrier{Client: f.client, Limit: f.cli.RetryTime, Note: func(text string) { fmt.Fprintln(f.cli.Stderr, "muster: "+text) }}
	v, err := f.view(ctx, r)
	if err != nil {
		return v, err
	}
	for _, n := range v.Results {
		f.width = max(f.width, len(n.Node))
	}
	for pace := leastPace; ; {
		lines, more, ended, err := f.read(ctx, r)
		switch {
		case err != nil:
			return v, err
		case more:
			continue
		case ended:
			return f.view(ctx, r)
		case lines > 0:
			pace = leastPace
		}
		if err := f.sleep(ctx, pace); err != nil {
			return v, err
		}
		pace = min(2*pace, mostPace)
	}
}

func (f *follower) view(ctx context.Context, r *cli.Retrier) (v run.View, err error) {
	err = r.Try(ctx, func(ctx context.Context) (err error) {
		v, err = f.client.Runs.Get(ctx, f.id, f.operation)
		return err
	})
	return v, err
}

// read prints a page of new lines. Ended is true once these were the last: lines are written before their operation ends.
func (f *follower) read(ctx context.Context, r *cli.Retrier) (lines int, more, ended bool, err error) {
	var found activity.LogPage
	err = r.Try(ctx, func(ctx context.Context) (err error) {
		found, err = f.client.Clusters.Logs(ctx, f.id, cluster.LogFilter{Operation: f.operation, After: f.after, Limit: page})
		return err
	})
	if err != nil {
		return 0, false, false, err
	}
	for _, l := range found.Lines {
		f.after = max(f.after, l.Seq)
		if err := f.line(l); err != nil {
			return 0, false, false, err
		}
	}
	f.after = max(f.after, found.Next)
	return len(found.Lines), found.Next > 0, found.Ended, nil
}

// sleep waits for a time, or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
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
		if r.Cut {
			text += " (output cut)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Node, text, took)
	}
	return w.Flush()
}
