package scaling

import (
	"context"
	"strings"

	"muster/app/humanize"
	"muster/app/scaling"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

// Command is the area of scaling, below clusters.
func Command(c *cli.Context) *cobra.Command {
	cmd := cli.Family("scaling", "Scale a cluster by schedule and by metric",
		showCommand(c),
		setCommand(c),
		one(c, &cobra.Command{Use: "off ID|NAME", Short: "Turn scaling off for a cluster", Example: "  muster cluster scaling off shop"},
			func(ctx context.Context, cl *cli.Client, id string) (scaling.View, error) {
				return cl.Scaling.Set(ctx, id, scaling.Setting{Off: true})
			}),
		one(c, &cobra.Command{Use: "inherit ID|NAME", Short: "Use the template's scaling rules again",
			Long: "Remove the cluster's own scaling rules, so that its template's rules count again.", Example: "  muster cluster scaling inherit shop"},
			func(ctx context.Context, cl *cli.Client, id string) (scaling.View, error) {
				return cl.Scaling.Inherit(ctx, id)
			}),
		one(c, &cobra.Command{Use: "resume ID|NAME", Short: "Resume scaling that is paused after failures",
			Long: "Resume scaling that is paused after several failures in a row. Fix their cause first.", Example: "  muster cluster scaling resume shop"},
			func(ctx context.Context, cl *cli.Client, id string) (scaling.View, error) {
				return cl.Scaling.Resume(ctx, id)
			}),
	)
	cluster.CompleteNames(c, cmd)
	return cmd
}

// one is a command that does something with one cluster and shows its scaling.
func one(c *cli.Context, cmd *cobra.Command, do func(ctx context.Context, cl *cli.Client, id string) (scaling.View, error)) *cobra.Command {
	cmd.Args = cli.Exactly("ID|NAME")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cl, v, err := cluster.ConnectTo(cmd.Context(), c, args[0], false)
		if err != nil {
			return err
		}
		s, err := do(cmd.Context(), cl, v.ID)
		if err != nil {
			return err
		}
		return show(c, s, 0)
	}
	return cmd
}

func showCommand(c *cli.Context) *cobra.Command {
	var history int
	cmd := &cobra.Command{Use: "show ID|NAME", Short: "Show a cluster's scaling rules, measurements and decisions",
		Example: "  muster cluster scaling show shop\n  muster cluster scaling show shop --history 50", Args: cli.Exactly("ID|NAME")}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if history < 0 || history > scaling.ShownHistory {
			return cli.Usagef("--history must be from 0 to %d, not %d", scaling.ShownHistory, history)
		}
		cl, v, err := cluster.ConnectTo(cmd.Context(), c, args[0], false)
		if err != nil {
			return err
		}
		s, err := cl.Scaling.Get(cmd.Context(), v.ID)
		if err != nil {
			return err
		}
		return show(c, s, history)
	}
	cmd.Flags().IntVar(&history, "history", 10, "`number` of decisions to show, at most 50")
	return cmd
}

func show(c *cli.Context, v scaling.View, history int) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	cli.Line(c.Stdout, "%s: %s", v.Name, v.Sentence())
	if p := v.Rules; p != nil {
		whose := map[string]string{"template": "the template", "cluster": "this cluster"}[v.Source]
		cli.Line(c.Stdout, "  rules of      %s", whose)
		cli.Line(c.Stdout, "  step          %s, cool-down %s up and %s down", humanize.Count(p.StepOr1(), "node"), humanize.Duration(p.UpAfter()),
			humanize.Duration(p.DownAfter()))
		for _, t := range p.Schedule {
			what := humanize.Count(t.Nodes, "node")
			if t.Min > 0 {
				what = "at least " + humanize.Count(t.Min, "node")
			}
			zone := t.Zone
			if zone == "" {
				zone = "UTC"
			}
			cli.Line(c.Stdout, "  schedule      %s (%s): %s", t.At, zone, what)
		}
		for _, m := range p.Metrics {
			line := m.Name + " " + m.Words()
			if x := v.Latest(m.Name); x != nil && x.Wrong != "" {
				line += "; not measured: " + x.Wrong
			} else if x != nil {
				line += "; now " + scaling.Short(x.Number)
			}
			cli.Line(c.Stdout, "  metric        %s", line)
			if s := spark(v, m.Name); s != "" {
				cli.Line(c.Stdout, "                %s", s)
			}
		}
		if !v.Next.IsZero() {
			cli.Line(c.Stdout, "  next schedule %s", cli.Time(v.Next))
		}
	}
	if v.State == "paused" && v.MaySet {
		cli.Line(c.Stdout, "  to resume it: muster cluster scaling resume %s", v.Name)
	}
	for i, e := range v.History {
		if i == history {
			break
		}
		cli.Line(c.Stdout, "%s  %s", cli.Time(e.At), cli.OneLine(e.Text()))
	}
	return nil
}

// spark draws the latest values of a metric in a line.
func spark(v scaling.View, metric string) string {
	var values []float64
	for _, p := range v.Points {
		if x, is := p.Values[metric]; is && x.Wrong == "" {
			values = append(values, x.Number)
		}
	}
	if len(values) < 2 {
		return ""
	}
	low, high := values[0], values[0]
	for _, x := range values {
		low, high = min(low, x), max(high, x)
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, x := range values {
		at := 0
		if high > low {
			at = int((x - low) / (high - low) * float64(len(bars)-1))
		}
		b.WriteRune(bars[at])
	}
	return b.String()
}
