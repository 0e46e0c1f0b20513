package bulk

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/bulk"
	"muster/app/humanize"
	"muster/app/label"
	"muster/app/template"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"

	"github.com/spf13/cobra"
)

// most is how many clusters a command names at most. The client asks the server in parts.
const most = 1000

// Extend lets the commands of a family take several clusters. With one name and no label they work as before.
func Extend(c *cli.Context, family *cobra.Command) *cobra.Command {
	for _, action := range []bulk.Action{bulk.Extend, bulk.Sleep, bulk.Wake, bulk.Delete} {
		if cmd, _, err := family.Find([]string{string(action)}); err == nil && cmd != family {
			several(c, cmd, action)
		}
	}
	return family
}

func several(c *cli.Context, cmd *cobra.Command, action bulk.Action) {
	var labels []string
	one, complete := cmd.RunE, cmd.ValidArgsFunction
	cmd.Use = string(action) + " ID|NAME..."
	cmd.Long = strings.TrimSpace(cmd.Long+"\n\n") + longer(cmd)
	cmd.Example = examples(action)
	cmd.Flags().StringArrayVar(&labels, "label", nil, "all clusters with this label: `key=value`, or a key for any value; may be repeated")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(labels) > 0 && len(args) > 0:
			return cli.Usagef("name clusters or use --label, not both")
		case len(labels) > 0:
			return nil
		case len(args) == 0:
			return cli.Usagef("ID|NAME or --label is required").Hint("Usage: %s", cmd.UseLine())
		case len(args) > most:
			return cli.Usagef("at most %d clusters are allowed at once", most)
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(labels) == 0 && len(args) == 1 {
			return one(cmd, args)
		}
		return run(cmd, c, action, args, labels)
	}
	if complete != nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			return complete(cmd, nil, word)
		}
	}
}

// longer is what is added to the help of a command.
func longer(cmd *cobra.Command) string {
	text := ""
	if cmd.Long == "" {
		text = cmd.Short + "."
	}
	return text + "\n\nSeveral clusters can be named, or chosen by --label. Each one's result is on its own line; an error of one doesn't stop the others,\n" +
		"and the exit code is then 1."
}

func examples(a bulk.Action) string {
	switch a {
	case bulk.Extend:
		return "  muster cluster extend shop --by 4h\n  muster cluster extend shop blog --by 8h\n  muster cluster extend --label team=web --by 1d"
	case bulk.Delete:
		return "  muster cluster delete shop\n  muster cluster delete shop blog --yes\n  muster cluster delete --label purpose=test --yes"
	}
	return fmt.Sprintf("  muster cluster %[1]s shop --wait\n  muster cluster %[1]s shop blog\n  muster cluster %[1]s --label team=web", a)
}

func run(cmd *cobra.Command, c *cli.Context, action bulk.Action, args, labels []string) error {
	ctx := cmd.Context()
	r, err := read(cmd, action)
	if err != nil {
		return err
	}
	yes := true
	if action == bulk.Delete {
		if yes, _ = cmd.Flags().GetBool("yes"); !yes && !cli.IsTerminal(c.Stdin) {
			return cli.Usagef("--yes is required without a terminal to confirm on")
		}
	}
	selectors, err := label.Selectors(labels)
	if err != nil {
		return cli.Usagef("--label: %s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	if r.Clusters = args; len(labels) > 0 {
		if r.Clusters, err = labeled(ctx, cl, selectors); err != nil {
			return err
		}
	}
	if len(r.Clusters) == 0 {
		return c.Say(bulk.Report{Action: action, Results: []bulk.Result{}}, "No matching clusters.")
	}
	if preview, _ := cmd.Flags().GetBool("preview"); preview {
		return show(c)(cl.Clusters.BulkPreview(ctx, r))
	}
	if !yes {
		if err := confirm(ctx, c, cl, r); err != nil {
			return err
		}
	}
	return show(c)(cl.Clusters.Bulk(ctx, r))
}

// read reads the flags of the command for one cluster. Some don't fit several.
func read(cmd *cobra.Command, action bulk.Action) (r rest.BulkRequest, err error) {
	for _, name := range []string{"wait", "timeout", "volumes", "forever"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return r, cli.Usagef("--%s works with one cluster only", name)
		}
	}
	r.Action = action
	if action != bulk.Extend {
		return r, nil
	}
	r.By, _ = cmd.Flags().GetString("by")
	r.Reason, _ = cmd.Flags().GetString("reason")
	until, _ := cmd.Flags().GetString("until")
	if (r.By == "") == (until == "") {
		return r, cli.Usagef("either --by or --until is required").Hint("For example: muster cluster extend shop blog --by 4h")
	}
	var by time.Duration
	if r.By != "" {
		if by, err = template.ParseLength(r.By); err == nil && by <= 0 {
			return r, cli.Usagef("--by must be more than 0").Hint("To shorten a lease: muster cluster shorten shop --by 4h")
		}
	} else {
		r.Until, err = template.ParseMomentIn(until, time.Local)
	}
	if err != nil {
		return r, cli.Usagef("%s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
	}
	return r, nil
}

// labeled returns the IDs of the live clusters with labels.
func labeled(ctx context.Context, cl *cli.Client, selectors []app.LabelSelector) (ids []string, err error) {
	list, err := cl.Clusters.List(ctx, app.ClusterFilter{Labels: selectors, Limit: most + 1})
	if err != nil {
		return nil, err
	}
	if len(list) > most {
		return nil, cli.Usagef("more than %d clusters have this label", most).Hint("Add another --label.")
	}
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids, nil
}

// confirm shows what would be deleted, and asks.
func confirm(ctx context.Context, c *cli.Context, cl *cli.Client, r rest.BulkRequest) error {
	p, err := cl.Clusters.BulkPreview(ctx, r)
	if err != nil {
		return err
	}
	for _, x := range p.Results {
		cli.Line(c.Stderr, "%s", line(x))
	}
	return c.Confirm(ctx, fmt.Sprintf("Delete %s?", humanize.Count(p.Count(bulk.Ready), "cluster")), "nothing was deleted")
}

// show prints the results, each on its line. The error says only how many failed.
func show(c *cli.Context) func(bulk.Report, error) error {
	return func(r bulk.Report, err error) error {
		if c.JSON() {
			if len(r.Results) == 0 && err != nil {
				return err
			}
			if printed := c.PrintJSON(r); printed != nil {
				return printed
			}
		} else {
			for _, x := range r.Results {
				cli.Line(c.Stdout, "%s", line(x))
			}
		}
		if n := r.Failed(); err == nil && n > 0 {
			e := &app.Error{Code: app.EConflict, Message: fmt.Sprintf("%d of %s failed", n, humanize.Count(len(r.Results), "cluster"))}
			return e
		}
		return err
	}
}

// line is the result of one cluster.
func line(r bulk.Result) string {
	name := r.Name
	if r.Cluster != r.Name {
		name += " (" + r.Cluster + ")"
	}
	text := name + ": " + r.Message
	if r.Outcome == bulk.Refused {
		text = name + ": failed: " + r.Message
	}
	if r.Hint != "" {
		text += " " + r.Hint
	}
	return text
}
