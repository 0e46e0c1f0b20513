package cluster

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/volume"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// updateFlags are the flags of the commands that change a cluster. Each command has its own flags and the common ones.
type updateFlags struct {
	nodes           []string
	volumes         volume.Choice
	hardware, image string
	batch           int
	askBetween      bool
	kept            string // the kept machine that is used again
	noRestart       bool
	replace         bool
	config          string
	parameters      []string

	yes, preview, steps bool
	harmless            bool
	onFailure           failureChoice
	partial             template.PartialOverride
	w                   waitFlags
}

// updates are the commands that change an existing cluster. They differ in how they read their arguments; preview, confirmation,
// submission and waiting are the same for all.
var updates = []struct {
	use, short, more, example string
	args                      cobra.PositionalArgs
	final                     bool // it can't be rolled back
	harmless                  bool // it changes nothing: no confirmation, and its findings are shown
	flags                     func(*updateFlags, *pflag.FlagSet)
	read                      func(c *cli.Context, v cluster.View, args []string, f *updateFlags) (cluster.Update, error)
}{
	{use: "resize ID|NAME SIZE", short: "Change the number of nodes of a cluster",
		more:    "Nodes to be removed are drained first: their work is handed over before they're deleted.",
		example: "muster cluster resize shop 5\nmuster cluster resize shop 2 --node n3 --yes --wait",
		args:    cli.Exactly("ID|NAME", "SIZE"), flags: flagsOf(theNodes("to remove if the cluster shrinks (default: chosen by Muster)"), theMachines, theVolumes),
		read: func(_ *cli.Context, _ cluster.View, args []string, f *updateFlags) (cluster.Update, error) {
			size, err := amount(args[0], "SIZE")
			return cluster.Update{Kind: app.OperationResize, Size: size, Nodes: f.nodes, Volumes: template.VolumeChoice(f.volumes)}, err
		}},
	{use: "grow ID|NAME [NODES]", short: "Add nodes to a cluster",
		more:    "With --kept-machine, a failed machine that is kept for inspection is used again as a new node.",
		example: "muster cluster grow shop\nmuster cluster grow shop 2 --yes --wait\nmuster cluster grow shop --kept-machine shop-n3-kept-7",
		args:    between(1, 2, "ID|NAME"), flags: flagsOf(theMachines, func(f *updateFlags, flags *pflag.FlagSet) {
			flags.StringVar(&f.kept, "kept-machine", "", "use this kept `machine` again, by ID or name; see muster cluster kept")
		}),
		read: func(_ *cli.Context, v cluster.View, args []string, f *updateFlags) (cluster.Update, error) {
			if f.kept != "" {
				if len(args) > 0 {
					return cluster.Update{}, cli.Usagef("NODES and --kept-machine can't be combined: a kept machine is one node")
				}
				return cluster.Update{Kind: app.OperationResize, KeptMachine: f.kept}, nil
			}
			by, err := amountOr(1, args, "NODES")
			return cluster.Update{Kind: app.OperationResize, Size: v.Size + by}, err
		}},
	{use: "shrink ID|NAME [NODES]", short: "Remove nodes from a cluster",
		more:    "Nodes are drained first: their work is handed over before they're deleted.",
		example: "muster cluster shrink shop --node n3\nmuster cluster shrink shop 2 --yes --wait",
		args:    between(1, 2, "ID|NAME"), flags: flagsOf(theNodes("to remove (default: chosen by Muster)"), theVolumes),
		read: func(_ *cli.Context, v cluster.View, args []string, f *updateFlags) (cluster.Update, error) {
			by, err := amountOr(max(1, len(f.nodes)), args, "NODES")
			switch {
			case err != nil:
				return cluster.Update{}, err
			case by < len(f.nodes):
				return cluster.Update{}, cli.Usagef("NODES is %d, but --node names %s", by, humanize.Count(len(f.nodes), "node"))
			case by >= v.Size:
				return cluster.Update{}, cli.Usagef("can't remove %s: %s has %s", humanize.Count(by, "node"), v.Name, humanize.Count(v.Size, "node")).Hint("To delete the cluster: muster cluster delete %s", v.Name)
			}
			return cluster.Update{Kind: app.OperationResize, Size: v.Size - by, Nodes: f.nodes, Volumes: template.VolumeChoice(f.volumes)}, nil
		}},
	{use: "add ID|NAME SERVICE…", short: "Add services to a cluster", example: "muster cluster add shop haproxy --yes --wait",
		args: between(2, 0, "ID|NAME", "SERVICE"), read: servicesRead(app.OperationAddServices)},
	{use: "remove ID|NAME SERVICE…", short: "Remove services from a cluster", example: "muster cluster remove shop haproxy --yes --wait",
		args: between(2, 0, "ID|NAME", "SERVICE"), flags: flagsOf(theVolumes), read: servicesRead(app.OperationRemoveServices)},
	{use: "set ID|NAME [PATH=VALUE…]", short: "Change the configuration of a cluster",
		more: "The values are merged into the configuration. VALUE is parsed as JSON, or used as text if it isn't JSON; null removes a key. Use --param for\n" +
			"the template's parameters. Services that use a changed value are reconfigured and reloaded, or restarted if they can't reload.",
		example: "muster cluster set shop nginx.port=8080 nginx.cache=null\nmuster cluster set shop --param workers=8\nmuster cluster set shop --config changes.yaml --no-restart --yes",
		args:    between(1, 0, "ID|NAME"), flags: flagsOf(theBatch, func(f *updateFlags, flags *pflag.FlagSet) {
			flags.StringArrayVar(&f.parameters, "param", nil, "template parameter as `name=value`; name= resets it to the template's default; may be repeated")
			flags.StringVar(&f.config, "config", "", "changes as a JSON `object`, a YAML or JSON file, or - for stdin")
			flags.BoolVar(&f.replace, "replace", false, "--config is the whole configuration: keys that it leaves out are removed, and values shown as ••• stay")
			flags.BoolVar(&f.noRestart, "no-restart", false, "only write the configuration; services read it at their next restart")
		}),
		read: func(c *cli.Context, _ cluster.View, args []string, f *updateFlags) (cluster.Update, error) {
			m := cluster.Update{Kind: app.OperationReconfigure, NoRestart: f.noRestart, Replace: f.replace}
			if f.replace && f.config == "" {
				return m, cli.Usagef("--replace requires --config").Hint("For example: muster cluster set shop --config whole.yaml --replace")
			}
			var err error
			if m.Parameters, err = parseValues("--param", f.parameters); err != nil {
				return m, err
			}
			if len(args) > 0 || f.config != "" || len(f.parameters) == 0 {
				m.Config, err = changes(c, args, f.config)
			}
			return m, err
		}},
	{use: "start ID|NAME [SERVICE…]", short: "Start services of a cluster",
		more: "Without SERVICE, all services start. Services they need start too.", example: "muster cluster start shop", args: between(1, 0, "ID|NAME"), flags: flagsOf(theNodes("to act on (default: all)")), read: servicesRead(app.OperationStart)},
	{use: "stop ID|NAME [SERVICE…]", short: "Stop services of a cluster",
		more: "Without SERVICE, all services stop. Services that depend on them stop too. Machines keep running and cost money.", example: "muster cluster stop shop haproxy",
		args: between(1, 0, "ID|NAME"), flags: flagsOf(theNodes("to act on (default: all)")), read: servicesRead(app.OperationStop)},
	{use: "restart ID|NAME [SERVICE…]", short: "Restart services of a cluster",
		more:    "Without SERVICE, all services restart. Services that depend on them restart too.",
		example: "muster cluster restart shop nginx --batch 1 --wait", args: between(1, 0, "ID|NAME"),
		flags: flagsOf(theNodes("to act on (default: all)"), theBatch), read: servicesRead(app.OperationRestart)},
	{use: "upgrade ID|NAME", short: "Upgrade a cluster to the current catalog, node by node",
		more:    "The upgrade halts at the first node that isn't healthy afterwards; then you can resume it or roll it back.",
		example: "muster cluster upgrade shop --preview\nmuster cluster upgrade shop --batch 2 --on-failure roll_back --wait",
		args:    cli.Exactly("ID|NAME"), flags: flagsOf(theBatch),
		read: func(*cli.Context, cluster.View, []string, *updateFlags) (cluster.Update, error) {
			return cluster.Update{Kind: app.OperationUpgrade}, nil
		}},
	{use: "compare ID|NAME [SERVICE…]", short: "Show what Puppet, Ansible, Chef and Docker would change on the nodes of a cluster",
		more:    "This is a dry run: nothing is changed. The differences are in the steps' logs and in muster cluster drift until the next operation;\nwith --wait they're printed at the end.",
		example: "muster cluster compare shop --wait", args: between(1, 0, "ID|NAME"),
		flags: flagsOf(theNodes("to act on (default: all)")), read: servicesRead(app.OperationCompare), harmless: true},
	{use: "repair ID|NAME [NODE…]", short: "Replace lost or unhealthy nodes of a cluster",
		more:    "Without NODE, all nodes are replaced that are lost, unhealthy or about to be interrupted. A replaced node keeps its name, host key and services.",
		example: "muster cluster repair shop --preview\nmuster cluster repair shop n3 --yes --wait",
		args:    between(1, 0, "ID|NAME"), final: true,
		read: func(_ *cli.Context, _ cluster.View, args []string, _ *updateFlags) (cluster.Update, error) {
			return cluster.Update{Kind: app.OperationRepair, Nodes: args}, nil
		}},
}

// flagsOf declares several flags.
func flagsOf(all ...func(*updateFlags, *pflag.FlagSet)) func(*updateFlags, *pflag.FlagSet) {
	return func(f *updateFlags, flags *pflag.FlagSet) {
		for _, declare := range all {
			declare(f, flags)
		}
	}
}

func theNodes(which string) func(*updateFlags, *pflag.FlagSet) {
	return func(f *updateFlags, flags *pflag.FlagSet) {
		flags.StringSliceVar(&f.nodes, "node", nil, "`nodes` "+which+"; separate several with commas, or repeat the flag")
	}
}

func theMachines(f *updateFlags, flags *pflag.FlagSet) {
	flags.StringVar(&f.hardware, "hardware", "", "hardware `type` of new nodes (default: same as existing nodes)")
	flags.StringVar(&f.image, "image", "", "image `type` of new nodes (default: same as existing nodes)")
}

func theBatch(f *updateFlags, flags *pflag.FlagSet) {
	flags.IntVar(&f.batch, "batch", 0, "number of `nodes` to change at a time (default: 1 for an upgrade, otherwise all)")
	flags.BoolVar(&f.askBetween, "ask-between-batches", false, "pause for a manual check before each further batch; see muster manual-steps")
}

// servicesRead reads a change of services, perhaps on some nodes only.
func servicesRead(kind app.OperationKind) func(*cli.Context, cluster.View, []string, *updateFlags) (cluster.Update, error) {
	return func(_ *cli.Context, _ cluster.View, args []string, f *updateFlags) (cluster.Update, error) {
		return cluster.Update{Kind: kind, Services: args, Nodes: f.nodes, Volumes: template.VolumeChoice(f.volumes)}, nil
	}
}

// amount reads a number of nodes.
func amount(text, name string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, cli.Usagef("%s must be a number of nodes, not %q", name, text).Hint("Choose a whole number of at least 1.")
	}
	return n, nil
}

// amountOr reads an optional argument.
func amountOr(standard int, args []string, name string) (int, error) {
	if len(args) == 0 {
		return standard, nil
	}
	return amount(args[0], name)
}

// between requires at least least arguments, named for the message, and at most most; 0: unlimited.
func between(least, most int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return cli.Exactly(names...)(cmd, args)
		}
		if most > 0 {
			return cli.AtMost(most)(cmd, args)
		}
		return nil
	}
}

// updateCommands makes the commands.
func updateCommands(c *cli.Context) []*cobra.Command {
	var all []*cobra.Command
	for _, a := range updates {
		f := &updateFlags{harmless: a.harmless}
		cmd := &cobra.Command{Use: a.use, Short: a.short, Args: a.args, Example: "  " + strings.ReplaceAll(a.example, "\n", "\n  "),
			Long: strings.TrimSpace(a.short+".\n"+a.more) + "\n\nShows a preview first, then runs exactly that plan. If anything has changed since the preview, the command fails."}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			return update(cmd.Context(), c, args[0], f, func(v cluster.View) (cluster.Update, error) { return a.read(c, v, args[1:], f) })
		}
		flags := cmd.Flags()
		if a.flags != nil {
			a.flags(f, flags)
		}
		flags.BoolVarP(&f.yes, "yes", "y", false, "skip the confirmation prompt")
		flags.BoolVar(&f.preview, "preview", false, "show the changes without applying them")
		flags.BoolVar(&f.steps, "steps", false, "also show every step of the plan")
		if !a.final {
			declareOnFailure(flags, &f.onFailure, &f.partial, strings.HasPrefix(a.use, "resize") || strings.HasPrefix(a.use, "grow"))
		}
		if strings.HasPrefix(a.use, "repair") {
			(*keepFlag)(&f.partial.KeepFailed).declare(flags)
		}
		f.w.declare(cmd)
		all = append(all, cmd)
	}
	return append(all, clusterConfigCommand(c))
}

// update previews a change, asks for confirmation, and submits it.
func update(ctx context.Context, c *cli.Context, word string, f *updateFlags, read func(cluster.View) (cluster.Update, error)) error {
	switch {
	case f.yes && f.preview:
		return cli.Usagef("--yes and --preview can't be combined")
	case f.batch < 0:
		return cli.Usagef("--batch must be at least 1")
	case !f.yes && !f.preview && !f.harmless && !cli.IsTerminal(c.Stdin):
		return cli.Usagef("--yes is required without a terminal to confirm on").Hint("To see the changes first, use --preview.")
	}
	cl, v, err := ConnectTo(ctx, c, word, false)
	if err != nil {
		return err
	}
	m, err := read(v)
	if err != nil {
		return err
	}
	m.Hardware, m.Image, m.Batch, m.OnFailure = f.hardware, f.image, f.batch, app.FailureChoice(f.onFailure)
	m.AskBetween = f.askBetween
	m.PartialOverride = f.partial
	p, err := cl.Operations.UpdatePreview(ctx, v.ID, m)
	if err != nil {
		return err
	}
	switch {
	case f.preview && c.JSON():
		return c.PrintJSON(p)
	case p.NoChanges && c.JSON():
		return c.PrintJSON(v)
	case !c.JSON():
		if err := printUpdate(c, v, p, f.steps); err != nil {
			return err
		}
	}
	if f.preview || p.NoChanges {
		return nil
	}
	if !f.yes && !f.harmless {
		if err := c.Confirm(ctx, "Apply these changes?", v.Name+" was not changed"); err != nil {
			return err
		}
	}
	after, err := f.w.start(ctx, cl, v.ID)
	if err != nil {
		return err
	}
	m.PlanHash = p.PlanHash
	answer, err := cl.Operations.Update(ctx, v.ID, m)
	if err != nil {
		return err
	}
	if err := updated(ctx, c, cl, v, answer, f.w, after); err != nil || !f.harmless || !f.w.wait || c.JSON() {
		return err
	}
	cli.Line(c.Stdout, "")
	return show(ctx, c, v.ID, "drift", printDrift)
}

// updated prints the result of a change that was accepted or is waiting for approval.
func updated(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.View, answer cluster.UpdateAnswer, w waitFlags, after int64) error {
	now := answer.Cluster
	if answer.Operation == 0 && answer.Request != nil {
		var err error
		if now, err = decided(ctx, c, cl, cluster.Answer{Request: *answer.Request}, w); now == nil || err != nil {
			return err
		}
	}
	switch {
	case now == nil:
		return c.Say(v, "No changes needed for %s.", v.Name)
	case answer.Operation == 0 && answer.Request == nil:
		return c.Say(*now, "No changes needed for %s.", v.Name)
	}
	return started(ctx, c, cl, *now, w, after)
}

// printUpdate prints a preview.
func printUpdate(c *cli.Context, v cluster.View, p cluster.UpdatePreview, steps bool) error {
	return updateText{w: c.Stdout, paint: c.Painter(c.Stdout)}.write(v, p, steps)
}

// nodesTouched returns the nodes that change, and how many don't.
func nodesTouched(p cluster.UpdatePreview) (touched []cluster.UpdatedNode, rest int) {
	touched = slices.DeleteFunc(slices.Clone(p.Nodes), func(n cluster.UpdatedNode) bool { return !n.Touched() })
	return touched, len(p.Nodes) - len(touched)
}
