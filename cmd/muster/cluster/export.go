package cluster

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/file/spec"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"

	"github.com/spf13/cobra"
)

func clusterExportCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "export ID|NAME",
		Short: "Write down what to ask for to get a cluster like this",
		Long: "Write a spec to standard output, in YAML or with -o json in JSON, from which `muster cluster create -f` makes a cluster like\n" +
			"this. Values that may be secret are left out, and named.",
		Example: "  muster cluster export shop >shop.yaml\n  muster cluster create shop-2 -f shop.yaml",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			e, err := cl.Clusters.Spec(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			if c.JSON() {
				for _, p := range e.LeftOut {
					fmt.Fprintf(c.Stderr, "left out, since it may be secret: %s\n", p)
				}
				return c.PrintJSON(e.Spec)
			}
			text, err := spec.YAML(e)
			if err != nil {
				return err
			}
			_, err = c.Bytes().Write(text)
			return err
		},
	}
}

func clusterCloneCommand(c *cli.Context) *cobra.Command {
	var w waitFlags
	var preview, yes bool
	cmd := &cobra.Command{
		Use:   "clone ID|NAME NEW",
		Short: "Make a cluster like another one, from the catalog as it is now",
		Long: "Make a cluster like another one under a new name: the same template, size, services, hardware and configuration, from the\n" +
			"catalog as it is now. What is on the machines is not copied.",
		Example: "  muster cluster clone shop shop-2 --preview\n  muster cluster clone shop shop-2 --yes --wait",
		Args:    cli.Exactly("ID|NAME", "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			cl, v, err := ConnectTo(ctx, c, args[0], false)
			if err != nil {
				return err
			}
			p, err := cl.Clusters.ClonePreview(ctx, v.ID, args[1])
			switch {
			case err != nil:
				return err
			case preview && c.JSON():
				return c.PrintJSON(p)
			case !c.JSON():
				printClone(c, v, args[1], p)
			}
			if preview {
				return nil
			}
			if !yes {
				if err := c.Confirm(ctx, "Go on?", "nothing was made"); err != nil {
					return err
				}
			}
			answer, err := cl.Clusters.CreateAt(ctx, rest.ClusterPath(v.ID, "clone"), map[string]string{"name": args[1], "plan_hash": p.PlanHash})
			if err != nil {
				return err
			}
			made, err := decided(ctx, c, cl, answer, w)
			if made == nil || err != nil {
				return err
			}
			return created(ctx, c, cl, *made, w)
		},
	}
	w.declare(cmd)
	cmd.Flags().BoolVar(&preview, "preview", false, "only show what would be made")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func printClone(c *cli.Context, v cluster.ClusterView, name string, p cluster.Preview) {
	cli.Line(c.Stdout, "%s would be, like %s:", name, v.Name)
	PrintPreview(c, p)
}

func PrintPreview(c *cli.Context, p cluster.Preview) {
	for _, g := range p.Layout.Groups {
		cli.Line(c.Stdout, "  %d × %s with %s: %s", g.Count, g.Hardware, g.Image, strings.Join(g.Services, ", "))
	}
	cli.Line(c.Stdout, "%s, %s per hour, %s", humanize.Count(p.Layout.Size(), "node"), cli.PriceOf(p.Layout), withPeople(takes(p.Duration, p.Plan.Expects), p.Plan.PeopleInWords()))
	if words := p.Plan.FallbackWords(); words != "" {
		cli.Line(c.Stdout, "%s", words)
	}
	if words := p.Cheaper.Words(); words != "" {
		cli.Line(c.Stdout, "%s", words)
	}
	for _, w := range append(p.ProblemLines(), p.Warnings...) {
		cli.Line(c.Stdout, "%s", w)
	}
	if p.FromPools != nil {
		cli.Line(c.Stdout, "%s", p.FromPools.Words())
	}
	if d := p.Decision; d != nil && d.Reason != "" {
		cli.Line(c.Stdout, "%s", d.Reason)
	}
}

func clusterDiffCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "diff ID|NAME[@OPERATION] ID|NAME[@OPERATION]",
		Short: "Compare two clusters, or two moments of one",
		Long: "Compare two clusters, or two moments of one: NAME@12 is how operation 12 left the cluster. Values that may be secret are not\n" +
			"shown. The exit code is 0 whether they differ or not.",
		Example: "  muster cluster diff shop shop-2\n  muster cluster diff shop@12 shop",
		Args:    cli.Exactly("A", "B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			d, err := cl.Clusters.Diff(cmd.Context(), args[0], args[1])
			switch {
			case err != nil:
				return err
			case c.JSON():
				return c.PrintJSON(d)
			case len(d.Changes) == 0:
				cli.Line(c.Stdout, "%s and %s do not differ in anything that is compared.", d.A.Title(), d.B.Title())
			}
			paint := c.Painter(c.Stdout)
			for _, x := range d.Changes {
				cli.Line(c.Stdout, "%s", x.Path)
				if x.Before != "" {
					cli.Line(c.Stdout, "  %s", paint(cli.ColourGoes, "- "+x.Before))
				}
				if x.After != "" {
					cli.Line(c.Stdout, "  %s", paint(cli.ColourComes, "+ "+x.After))
				}
			}
			for _, n := range d.Notes {
				cli.Line(c.Stdout, "%s", n)
			}
			return nil
		},
	}
}

// readSpec reads the spec of a file, or of standard input where its name is -.
func readSpec(c *cli.Context, name string) (cluster.ClusterSpec, error) {
	const most = 1<<20 + 1
	in, shown := c.Stdin, "standard input"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return cluster.ClusterSpec{}, cli.Usagef("the spec cannot be read: %v", err)
		}
		defer func() { _ = f.Close() }()
		in, shown = f, name
	}
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return cluster.ClusterSpec{}, cli.Usagef("the spec cannot be read: %v", err)
	}
	s, err := spec.Parse(shown, text)
	if err != nil {
		return s, cli.Usagef("%s", err.Error()).Hint("%s", app.AsError(err).Hint)
	}
	return s, nil
}

// withSpec lays what was said on the command line over a spec.
func withSpec(cmd *cobra.Command, r, over cluster.ClusterRequest) cluster.ClusterRequest {
	said := func(flag string) bool { return cmd.Flags().Changed(flag) }
	for _, f := range []struct {
		flag string
		take func()
	}{
		{"template", func() { over.Template = r.Template }}, {"size", func() { over.Size = r.Size }}, {"provider", func() { over.Provider = r.Provider }},
		{"services", func() { over.Services = slices.Clone(r.Services) }}, {"hardware", func() { over.Hardware = r.Hardware }},
		{"image", func() { over.Image = r.Image }}, {"prefer", func() { over.Prefer = r.Prefer }}, {"lease", func() { over.Lease = r.Lease }},
		{"config", func() { over.Config = r.Config }}, {"dns-suffix", func() { over.DNSSuffix = r.DNSSuffix }},
		{"on-failure", func() { over.OnFailure = r.OnFailure }},
		{"at-least", func() { over.AtLeast = r.AtLeast }}, {"no-top-up", func() { over.NoTopUp = r.NoTopUp }}, {"set", func() { over.Parameters = r.Parameters }},
		{"visibility", func() { over.Visibility = r.Visibility }}, {"group", func() { over.Group = r.Group }},
	} {
		if cmd.Flags().Lookup(f.flag) != nil && said(f.flag) {
			f.take()
		}
	}
	if r.Name != "" {
		over.Name = r.Name
	}
	return over
}
