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
	"muster/app/volume"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"

	"github.com/spf13/cobra"
)

func clusterExportCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "export ID|NAME",
		Short: "Export a cluster as a spec for a new one",
		Long: "Write a spec to stdout, in YAML or with --format json in JSON, from which `muster cluster create -f` creates a cluster like this one.\n" +
			"Values that may be secret are left out and listed.",
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
				for _, p := range e.Omitted {
					fmt.Fprintf(c.Stderr, "left out because it may be secret: %s\n", p)
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
		Short: "Clone a cluster, using the current catalog",
		Long: "Create a cluster with the template, size, services, hardware and configuration of another one, from the current catalog.\n" +
			"Data on the machines isn't copied.",
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
				if err := c.Confirm(ctx, "Create this cluster?", "cancelled; no cluster was created"); err != nil {
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
	cmd.Flags().BoolVar(&preview, "preview", false, "show the cluster, its cost and duration without creating it")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

func printClone(c *cli.Context, v cluster.View, name string, p cluster.Preview) {
	cli.Line(c.Stdout, "Preview: %s, a clone of %s", name, v.Name)
	PrintPreview(c, p)
}

func PrintPreview(c *cli.Context, p cluster.Preview) {
	for _, g := range p.Layout.Groups {
		cli.Line(c.Stdout, "  %d × %s with %s: %s", g.Count, g.Hardware, g.Image, strings.Join(g.Services, ", "))
	}
	cli.Line(c.Stdout, "%s, %s per hour, %s", humanize.Count(p.Layout.Size(), "node"), p.Layout.Price(), withPeople(takes(p.Duration, p.Plan.Expects), p.Plan.PeopleInWords()))
	if words := volume.Words(p.Volumes, p.Layout.Currency); words != "" {
		cli.Line(c.Stdout, "%s", words)
	}
	if words := p.Plan.FallbackWords(); words != "" {
		cli.Line(c.Stdout, "%s", words)
	}
	if words := p.Cheaper.Text(); words != "" {
		cli.Line(c.Stdout, "%s", words)
	}
	for _, w := range append(p.ProblemLines(), p.Warnings...) {
		cli.Line(c.Stdout, "%s", w)
	}
	for _, words := range p.Baked {
		cli.Line(c.Stdout, "%s", words)
	}
	if p.FromPools != nil {
		cli.Line(c.Stdout, "%s", p.FromPools.Text())
	}
	for _, text := range p.Decision.Sentences() {
		cli.Line(c.Stdout, "%s", text)
	}
	printCandidates(c, p.Places)
}

func clusterDiffCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "diff ID|NAME[@OPERATION] ID|NAME[@OPERATION]",
		Short: "Compare two clusters, or two states of one",
		Long: "Compare two clusters, or two states of one: NAME@12 is the cluster after operation 12. Values that may be secret aren't\n" +
			"shown. The exit code is 0 whether they differ or not.",
		Example: "  muster cluster diff shop shop-2\n  muster cluster diff shop@12 shop",
		Args:    cli.Exactly("ID|NAME[@OPERATION]", "a second ID|NAME[@OPERATION]"),
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
				cli.Line(c.Stdout, "No differences between %s and %s.", d.A.Title(), d.B.Title())
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

// readSpec reads a spec from a file, or from stdin if its name is -.
func readSpec(c *cli.Context, name string) (cluster.Spec, error) {
	const most = 1<<20 + 1
	in, shown := c.Stdin, "stdin"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return cluster.Spec{}, cli.Usagef("can't read the spec: %v", err)
		}
		defer func() { _ = f.Close() }()
		in, shown = f, name
	}
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return cluster.Spec{}, cli.Usagef("can't read the spec: %v", err)
	}
	s, err := spec.Parse(shown, text)
	if err != nil {
		return s, cli.Usagef("%s", err.Error()).Hint("%s", app.AsError(err).Hint)
	}
	return s, nil
}

// withSpec applies the flags over a spec.
func withSpec(cmd *cobra.Command, r, over cluster.CreateRequest) cluster.CreateRequest {
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
		{"min-available", func() { over.MinAvailable = r.MinAvailable }}, {"no-backfill", func() { over.NoBackfill = r.NoBackfill }},
		{"keep-failed", func() { over.KeepFailed = r.KeepFailed }}, {"set", func() { over.Parameters = r.Parameters }},
		{"visibility", func() { over.Visibility = r.Visibility }}, {"group", func() { over.Group = r.Group }},
		{"description", func() { over.Description = r.Description }}, {"label", func() { over.Labels = r.Labels }},
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
