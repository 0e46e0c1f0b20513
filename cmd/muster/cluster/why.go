package cluster

import (
	"fmt"
	"strconv"
	"time"

	"muster/app/execution"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func clusterWhyCommand(c *cli.Context) *cobra.Command {
	var f execution.WaitingFilter
	cmd := &cobra.Command{
		Use:   "why ID|NAME",
		Short: "Explain what the steps of a cluster are waiting for",
		Long: "Explain why a cluster isn't ready: for each waiting step, what it's waiting for and its position in the queue. A reason that\n" +
			"several steps share is listed once.",
		Example: "  muster cluster why shop\n  muster cluster why shop --node n3",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Limit < 1 || f.Limit > 500 {
				return cli.Usagef("--limit must be from 1 to 500, not %d", f.Limit)
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			w, err := cl.Queues.Waiting(cmd.Context(), v.ID, f)
			if err != nil {
				return err
			}
			return printWaiting(c, w)
		},
	}
	cmd.Flags().StringVar(&f.Node, "node", "", "filter by `node`, such as n3")
	cmd.Flags().StringVar(&f.Step, "step", "", "filter by `step`, such as n3.app.start")
	cmd.Flags().IntVar(&f.Limit, "limit", 20, "maximum number of `steps`, up to 500")
	cmd.Flags().IntVar(&f.From, "from", 0, "start at step `number`, as printed at the end of a list")
	return cmd
}

func printWaiting(c *cli.Context, w execution.Waiting) error {
	if c.JSON() {
		return c.PrintJSON(w)
	}
	fmt.Fprintln(c.Stdout, w.Text)
	if len(w.Groups) > 0 {
		fmt.Fprintln(c.Stdout)
		t := cli.NewTable("STEPS>", "REASON")
		for _, g := range w.Groups {
			t.Add(strconv.Itoa(g.Count), g.Text)
		}
		if err := t.Show(c); err != nil {
			return err
		}
	}
	if len(w.Steps) == 0 {
		return nil
	}
	fmt.Fprintln(c.Stdout)
	t := cli.NewTable("STEP", "STATE", "POSITION>", "REASON")
	for _, s := range w.Steps {
		place := "-"
		if s.Position > 0 {
			place = strconv.Itoa(s.Position)
		}
		t.Add(s.Step, s.State.Words(), place, s.Text)
	}
	if err := t.Show(c); err != nil || w.Next == 0 {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "More:  muster cluster why %s --from %d\n", w.Cluster, w.Next)
	return err
}

// QueueCommand shows admins their tenant's queue.
func QueueCommand(c *cli.Context) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "queue",
		Short:   "Show waiting operations and what they're waiting for (admins)",
		Example: "  muster queue\n  muster queue --all-tenants   # for superadmins",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if all {
				q, err := cl.Queues.List(cmd.Context())
				if err != nil {
					return err
				}
				return printQueues(c, q, time.Now())
			}
			q, err := cl.Queues.Get(cmd.Context())
			if err != nil {
				return err
			}
			return printQueue(c, q, time.Now())
		},
	}
	cmd.Flags().BoolVar(&all, "all-tenants", false, "show which tenants are waiting, since when, why, and what would help (superadmins)")
	c.ServerFlags(cmd.Flags())
	return cmd
}

// printQueues prints what all tenants are waiting for, a line for each reason.
func printQueues(c *cli.Context, q execution.Queues, now time.Time) error {
	if c.JSON() {
		return c.PrintJSON(q)
	}
	fmt.Fprintln(c.Stdout, q.Text)
	if len(q.Tenants) == 0 {
		return nil
	}
	fmt.Fprintln(c.Stdout)
	t := cli.NewTable("TENANT", "SINCE>", "OPERATIONS>", "RUNNING>", "QUEUED>", "SLOTS>", "STEPS>", "REASON", "SOLUTION")
	for _, one := range q.Tenants {
		slots := "-"
		if one.Slots >= 0 {
			slots = strconv.Itoa(one.Slots)
		}
		head := []string{one.Tenant, humanize.Duration(now.Sub(one.Oldest)), strconv.Itoa(len(one.Operations) + one.More), strconv.Itoa(one.Running), strconv.Itoa(one.Queued), slots}
		help := one.Help
		if len(one.Groups) == 0 {
			t.Add(append(head, "0", "", help)...)
		}
		for _, g := range one.Groups {
			t.Add(append(head, strconv.Itoa(g.Count), g.Text, help)...)
			head, help = make([]string, len(head)), ""
		}
	}
	if err := t.Show(c); err != nil || q.More == 0 {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "And %s.\n", humanize.Count(q.More, "more tenant"))
	return err
}

func printQueue(c *cli.Context, q execution.Queue, now time.Time) error {
	if c.JSON() {
		return c.PrintJSON(q)
	}
	fmt.Fprintln(c.Stdout, q.Text)
	if len(q.Groups) > 0 {
		fmt.Fprintln(c.Stdout)
		t := cli.NewTable("STEPS>", "OLDEST>", "REASON")
		for _, g := range q.Groups {
			oldest := "-"
			if !g.Oldest.IsZero() {
				oldest = humanize.Duration(now.Sub(g.Oldest))
			}
			t.Add(strconv.Itoa(g.Count), oldest, g.Text)
		}
		if err := t.Show(c); err != nil {
			return err
		}
	}
	if len(q.Operations) == 0 {
		return nil
	}
	fmt.Fprintln(c.Stdout)
	t := cli.NewTable("CLUSTER", "OPERATION", "STATUS", "AGE>", "DONE>", "RUNNING>", "QUEUED>", "WAITING>", "REASON")
	for _, l := range q.Operations {
		t.Add(l.Name, l.Kind.Text(), string(l.Status), humanize.Duration(now.Sub(l.CreatedAt)), fmt.Sprintf("%d/%d", l.Done, l.Total), strconv.Itoa(l.Running),
			strconv.Itoa(l.Queued), strconv.Itoa(l.Ready+l.Waiting), l.Text)
	}
	if err := t.Show(c); err != nil || q.More == 0 {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "And %s.\n", humanize.Count(q.More, "more operation"))
	return err
}
