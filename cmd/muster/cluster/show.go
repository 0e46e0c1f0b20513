package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/label"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func clusterShowCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID|NAME",
		Short: "Show a cluster: its nodes, SSH access and operations",
		Args:  cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], true)
			if err != nil {
				return err
			}
			return PrintCluster(cmd.Context(), c, cl, v)
		},
	}
}

// JSON is a cluster with the SSH access to its nodes.
type JSON struct {
	cluster.View
	SSH map[string]string `json:"ssh,omitempty"` // command line by node
}

// PrintCluster prints a cluster and the SSH access to its nodes.
func PrintCluster(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View) error {
	r, err := fetchSSHAccess(ctx, cl, v)
	if err != nil {
		return err
	}
	if c.JSON() {
		return c.PrintJSON(JSON{v, r.lines})
	}
	fmt.Fprintln(c.Stdout, Headline(v))
	if v.Status == app.ClusterDeleted {
		printTried(ctx, c, cl, v)
		return nil
	}
	fmt.Fprintf(c.Stdout, "%s\n", strings.Join(facts(v, time.Now()), " · "))
	if v.Description != "" {
		fmt.Fprintln(c.Stdout, v.Description)
	}
	if len(v.Labels) > 0 {
		fmt.Fprintf(c.Stdout, "Labels: %s\n", strings.Join(label.Texts(v.Labels), ", "))
	}
	if v.Problem != nil {
		printTrouble(c, *v.Problem, time.Now())
	}
	if v.Backfill != nil {
		fmt.Fprintln(c.Stdout, v.Backfill.Text(v.Size, time.Now()))
	}
	if m := v.Maintenance; m != nil && len(m.Waiting) > 0 {
		printScheduled(c, *m)
	} else if m != nil {
		fmt.Fprintln(c.Stdout, m.Text())
	}
	fmt.Fprintln(c.Stdout)
	if err := nodeTable(v.Nodes).Show(c); err != nil {
		return err
	}
	for _, n := range v.Nodes {
		if words := n.InterruptionWords(); words != "" {
			fmt.Fprintln(c.Stdout, words)
		}
	}
	printTried(ctx, c, cl, v)
	printLeaseStops(ctx, c, cl, v.ID)
	if len(r.lines) > 0 || r.note != "" {
		fmt.Fprint(c.Stdout, "\nSSH access:\n")
		r.write(c.Stdout, v)
	}
	if len(v.Links) > 0 {
		fmt.Fprint(c.Stdout, "\nLinks:\n")
		for _, l := range v.Links {
			fmt.Fprintf(c.Stdout, "  %s: %s\n", l.Label, l.URL)
		}
	}
	return printHistory(c, v.Operations, time.Now())
}

// printTrouble prints since when the cluster has a problem, its cost in the meantime, and the possible actions, the best first.
func printTrouble(c *cli.Context, t cluster.Problem, now time.Time) {
	for _, f := range t.Failures {
		fmt.Fprintf(c.Stdout, "  %s: %s\n", f.Step, f.Error)
	}
	if t.MoreFailures > 0 {
		fmt.Fprintf(c.Stdout, "  and %s\n", humanize.Count(t.MoreFailures, "more failed step"))
	}
	fmt.Fprintf(c.Stdout, "%s %s", t.Began(), humanize.Ago(now, t.Since))
	if t.CostPerHour > 0 {
		fmt.Fprintf(c.Stdout, "; its machines cost %s in the meantime", humanize.PerHour(t.CostPerHour, t.Currency))
	}
	fmt.Fprintln(c.Stdout, strings.TrimSpace(". "+t.Soon))
	fmt.Fprint(c.Stdout, "\nWhat you can do:\n")
	wide := 0
	for _, w := range t.Options {
		wide = max(wide, len(w.Command))
	}
	for _, w := range t.Options {
		fmt.Fprintf(c.Stdout, "  %-*s  %s\n", wide, w.Command, w.Text)
	}
}

// historyShown is how many operations of a cluster are listed.
const historyShown = 10

// printHistory lists a cluster's operations, if there were any after its create.
func printHistory(c *cli.Context, ops []app.Operation, now time.Time) error {
	if len(ops) < 2 {
		return nil
	}
	fmt.Fprint(c.Stdout, "\nHistory:\n")
	t := cli.NewTable()
	for _, o := range ops[:min(len(ops), historyShown)] {
		took := ""
		if !o.StartedAt.IsZero() && !o.EndedAt.IsZero() {
			took = "took " + humanize.Duration(o.EndedAt.Sub(o.StartedAt))
		}
		t.Add("  "+humanize.Ago(now, o.CreatedAt), o.Kind.Text(), string(o.Status), took, "by "+o.Requester)
	}
	t.Rows = t.Rows[1:] // without headings
	if err := t.Show(c); err != nil || len(ops) <= historyShown {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "  and %s.\n", humanize.Count(len(ops)-historyShown, "earlier operation"))
	return err
}

// Headline is a cluster's state in one line.
func Headline(v cluster.View) string {
	op, known := OperationOf(v, 0)
	line := fmt.Sprintf("%s (%s) is %s", v.Name, v.ID, v.Status)
	switch {
	case v.Status == app.ClusterDeleted:
		line += ": " + cmp.Or(v.Message, "all machines are deleted")
	case known && !op.HeldUntil.IsZero():
		line += fmt.Sprintf(": %s hasn't started. %s", op.Kind.The(), op.Message)
	case known && op.Status == app.OperationCancelled && op.StartedAt.IsZero() && op.Message != "":
		line += ". " + op.Message
	case known && !op.Status.Ended():
		line += fmt.Sprintf(": %s %s, %d of %d steps done", op.Kind.Text(), op.Status, op.Done, op.Total)
	case v.Problem != nil:
		return line + ": " + v.Problem.Text
	case cmp.Or(v.Message, op.Message) != "" && v.Status == app.ClusterFailed:
		line += ": " + cmp.Or(v.Message, op.Message)
	}
	if known && op.Status.Ended() && !op.StartedAt.IsZero() && !op.EndedAt.IsZero() {
		line += fmt.Sprintf(" (%s took %s)", op.Kind.Text(), humanize.Duration(op.EndedAt.Sub(op.StartedAt)))
	}
	return line
}

// facts are a cluster's attributes in short.
func facts(v cluster.View, now time.Time) []string {
	out := []string{templateText(v), humanize.Count(v.Size, "node"), v.Provider, "owned by " + owners(v.Cluster)}
	if v.KeptFrom != "" {
		out = append(out, fmt.Sprintf("kept for inspection: was %s of %s (%s)", v.KeptNode, v.KeptFrom, v.KeptReason))
	}
	if v.Lock != nil {
		out = append(out, "locked by "+v.Lock.By+": "+v.Lock.Reason)
	}
	if v.Visibility == app.VisiblePrivate {
		out = append(out, "private")
	}
	if v.CostPerHour > 0 {
		out = append(out, humanize.PerHour(v.CostPerHour, v.Currency)+"")
	}
	return append(out, leaseWords(v.Cluster, now))
}

func leaseWords(c app.Cluster, now time.Time) string {
	switch {
	case c.ExpiresAt.IsZero():
		return "lease never expires"
	case c.ExpiresAt.Before(now):
		return "lease expired"
	}
	return "lease expires in " + humanize.Duration(c.ExpiresAt.Sub(now))
}

// templateText names the template and version of a cluster.
func templateText(v cluster.View) string {
	m := v.TemplateVersion
	switch {
	case m == nil:
		return v.Template
	case m.Deleted:
		return v.Template + " (no longer in the catalog)"
	case m.Newer && m.Number > 0 && m.Latest > 0:
		return fmt.Sprintf("%s version %d (latest: %d)", v.Template, m.Number, m.Latest)
	case m.Newer:
		return v.Template + " (a newer version exists)"
	}
	return v.Template
}
