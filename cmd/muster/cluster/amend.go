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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// amendFlags are what the commands that amend a cluster are told. Each command has those of its own, and those of all.
type amendFlags struct {
	nodes           []string
	hardware, image string
	batch           int
	askBetween      bool
	noRestart       bool
	config          string
	parameters      []string

	yes, preview, steps bool
	harmless            bool
	onFailure           failureChoice
	survival            template.Survival
	w                   waitFlags
}

// amendments are the commands that amend a cluster that stands. They differ in how they read what is asked; showing, asking,
// sending and waiting is the same for all of them.
var amendments = []struct {
	use, short, more, example string
	args                      cobra.PositionalArgs
	final                     bool // it cannot be rolled back
	harmless                  bool // it changes nothing: no one is asked, and what it found is shown
	flags                     func(*amendFlags, *pflag.FlagSet)
	read                      func(c *cli.Context, v cluster.ClusterView, args []string, f *amendFlags) (cluster.Amendment, error)
}{
	{use: "resize ID|NAME SIZE", short: "Give a cluster more or fewer nodes",
		more:    "Nodes that go are drained first: what runs on them is handed over before they are given back.",
		example: "muster cluster resize shop 5\nmuster cluster resize shop 2 --node n3 --yes --wait",
		args:    cli.Exactly("ID|NAME", "SIZE"), flags: flagsOf(theNodes("that go, if it shrinks; otherwise Muster chooses"), theMachines),
		read: func(_ *cli.Context, _ cluster.ClusterView, args []string, f *amendFlags) (cluster.Amendment, error) {
			size, err := amount(args[0], "SIZE")
			return cluster.Amendment{Kind: app.OperationResize, Size: size, Nodes: f.nodes}, err
		}},
	{use: "grow ID|NAME [NODES]", short: "Give a cluster more nodes: one, or so many",
		example: "muster cluster grow shop\nmuster cluster grow shop 2 --yes --wait",
		args:    between(1, 2, "ID|NAME"), flags: flagsOf(theMachines),
		read: func(_ *cli.Context, v cluster.ClusterView, args []string, _ *amendFlags) (cluster.Amendment, error) {
			by, err := amountOr(1, args, "NODES")
			return cluster.Amendment{Kind: app.OperationResize, Size: v.Size + by}, err
		}},
	{use: "shrink ID|NAME [NODES]", short: "Take nodes from a cluster: one, so many, or those that are named",
		more:    "They are drained first: what runs on them is handed over before they are given back.",
		example: "muster cluster shrink shop --node n3\nmuster cluster shrink shop 2 --yes --wait",
		args:    between(1, 2, "ID|NAME"), flags: flagsOf(theNodes("that go; otherwise Muster chooses")),
		read: func(_ *cli.Context, v cluster.ClusterView, args []string, f *amendFlags) (cluster.Amendment, error) {
			by, err := amountOr(max(1, len(f.nodes)), args, "NODES")
			switch {
			case err != nil:
				return cluster.Amendment{}, err
			case by < len(f.nodes):
				return cluster.Amendment{}, cli.Usagef("%s shall go, but %d are named", humanize.Count(by, "node"), len(f.nodes))
			case by >= v.Size:
				return cluster.Amendment{}, cli.Usagef("%s has %s; of them %d cannot go", v.Name, humanize.Count(v.Size, "node"), by).Hint("To give all of it back: muster cluster delete %s", v.Name)
			}
			return cluster.Amendment{Kind: app.OperationResize, Size: v.Size - by, Nodes: f.nodes}, nil
		}},
	{use: "add ID|NAME SERVICE…", short: "Add services to a cluster", example: "muster cluster add shop haproxy --yes --wait",
		args: between(2, 0, "ID|NAME", "SERVICE"), read: servicesRead(app.OperationAddServices)},
	{use: "remove ID|NAME SERVICE…", short: "Remove services from a cluster", example: "muster cluster remove shop haproxy --yes --wait",
		args: between(2, 0, "ID|NAME", "SERVICE"), read: servicesRead(app.OperationRemoveServices)},
	{use: "set ID|NAME [PATH=VALUE…]", short: "Change the configuration of a cluster",
		more: "What is given is laid over the configuration, map by map. A VALUE is JSON where it can be read so, else a text; null takes a\n" +
			"key out. What a parameter of the template sets is said with --param, within the template's limits. Services that read what has changed are configured anew and reloaded, or restarted where they cannot reload.",
		example: "muster cluster set shop nginx.port=8080 nginx.cache=null\nmuster cluster set shop --param workers=8\nmuster cluster set shop --config changes.yaml --no-restart --yes",
		args:    between(1, 0, "ID|NAME"), flags: flagsOf(theBatch, func(f *amendFlags, flags *pflag.FlagSet) {
			flags.StringArrayVar(&f.parameters, "param", nil, "value of one of the template's parameters, as `name=value`; name= takes it back to what the template says")
			flags.StringVar(&f.config, "config", "", "what changes: a JSON `object`, the name of a YAML or JSON file, or - for stdin")
			flags.BoolVar(&f.noRestart, "no-restart", false, "only write the configuration; services read it when they are restarted next")
		}),
		read: func(c *cli.Context, _ cluster.ClusterView, args []string, f *amendFlags) (cluster.Amendment, error) {
			m := cluster.Amendment{Kind: app.OperationReconfigure, NoRestart: f.noRestart}
			var err error
			if m.Parameters, err = parseValues("--param", f.parameters); err != nil {
				return m, err
			}
			if len(args) > 0 || f.config != "" || len(f.parameters) == 0 {
				m.Config, err = changes(c, args, f.config)
			}
			return m, err
		}},
	{use: "start ID|NAME [SERVICE…]", short: "Start the services of a cluster: all, or those that are named, with what they need",
		example: "muster cluster start shop", args: between(1, 0, "ID|NAME"), flags: flagsOf(theNodes("on which; otherwise all")), read: servicesRead(app.OperationStart)},
	{use: "stop ID|NAME [SERVICE…]", short: "Stop the services of a cluster: all, or those that are named, with what depends on them",
		more: "Machines stay, and cost money.", example: "muster cluster stop shop haproxy",
		args: between(1, 0, "ID|NAME"), flags: flagsOf(theNodes("on which; otherwise all")), read: servicesRead(app.OperationStop)},
	{use: "restart ID|NAME [SERVICE…]", short: "Restart the services of a cluster: all, or those that are named, with what depends on them",
		example: "muster cluster restart shop nginx --batch 1 --wait", args: between(1, 0, "ID|NAME"),
		flags: flagsOf(theNodes("on which; otherwise all"), theBatch), read: servicesRead(app.OperationRestart)},
	{use: "upgrade ID|NAME", short: "Bring a cluster to what the catalog says by now, node after node",
		more:    "It halts by itself at the first node that is not well afterwards; then it can be resumed or rolled back.",
		example: "muster cluster upgrade shop --preview\nmuster cluster upgrade shop --batch 2 --on-failure roll_back --wait",
		args:    cli.Exactly("ID|NAME"), flags: flagsOf(theBatch),
		read: func(*cli.Context, cluster.ClusterView, []string, *amendFlags) (cluster.Amendment, error) {
			return cluster.Amendment{Kind: app.OperationUpgrade}, nil
		}},
	{use: "compare ID|NAME [SERVICE…]", short: "Have Puppet, Ansible, Chef and Docker say what they would change on the nodes of a cluster",
		more:    "Nothing is changed, so nobody is asked. What they would change is in the steps' logs, and stands in muster cluster drift until something\nelse is done; with --wait it is shown in the end.",
		example: "muster cluster compare shop --wait", args: between(1, 0, "ID|NAME"),
		flags: flagsOf(theNodes("on which; otherwise all")), read: servicesRead(app.OperationCompare), harmless: true},
	{use: "repair ID|NAME [NODE…]", short: "Make nodes anew that are lost or sick, or those that are named",
		more:    "A node that is made anew keeps its name, its host key and its services.",
		example: "muster cluster repair shop --preview\nmuster cluster repair shop n3 --yes --wait",
		args:    between(1, 0, "ID|NAME"), final: true,
		read: func(_ *cli.Context, _ cluster.ClusterView, args []string, _ *amendFlags) (cluster.Amendment, error) {
			return cluster.Amendment{Kind: app.OperationRepair, Nodes: args}, nil
		}},
}

// flagsOf declares several flags.
func flagsOf(all ...func(*amendFlags, *pflag.FlagSet)) func(*amendFlags, *pflag.FlagSet) {
	return func(f *amendFlags, flags *pflag.FlagSet) {
		for _, declare := range all {
			declare(f, flags)
		}
	}
}

func theNodes(which string) func(*amendFlags, *pflag.FlagSet) {
	return func(f *amendFlags, flags *pflag.FlagSet) {
		flags.StringSliceVar(&f.nodes, "node", nil, "`nodes` "+which+"; several with commas or the flag again")
	}
}

func theMachines(f *amendFlags, flags *pflag.FlagSet) {
	flags.StringVar(&f.hardware, "hardware", "", "hardware `type` of new nodes (default: as those that are there)")
	flags.StringVar(&f.image, "image", "", "image `type` of new nodes (default: as those that are there)")
}

func theBatch(f *amendFlags, flags *pflag.FlagSet) {
	flags.IntVar(&f.batch, "batch", 0, "on how many `nodes` at a time (default: 1 for an upgrade, else all)")
	flags.BoolVar(&f.askBetween, "ask-between-batches", false, "wait for somebody to look before the next batch begins; see `muster questions`")
}

// servicesRead reads an amendment that is about services, and perhaps nodes.
func servicesRead(kind app.OperationKind) func(*cli.Context, cluster.ClusterView, []string, *amendFlags) (cluster.Amendment, error) {
	return func(_ *cli.Context, _ cluster.ClusterView, args []string, f *amendFlags) (cluster.Amendment, error) {
		return cluster.Amendment{Kind: kind, Services: args, Nodes: f.nodes}, nil
	}
}

// amount reads a number of nodes.
func amount(text, name string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, cli.Usagef("%s is %q, and not a number of nodes", name, text).Hint("It is a whole number from 1 on.")
	}
	return n, nil
}

// amountOr reads the one argument that there may be.
func amountOr(standard int, args []string, name string) (int, error) {
	if len(args) == 0 {
		return standard, nil
	}
	return amount(args[0], name)
}

// between asks for at least least arguments, named for the message, and at most so many; 0: as many as one likes.
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

// amendCommands makes the commands.
func amendCommands(c *cli.Context) []*cobra.Command {
	var all []*cobra.Command
	for _, a := range amendments {
		f := &amendFlags{harmless: a.harmless}
		cmd := &cobra.Command{Use: a.use, Short: a.short, Args: a.args, Example: "  " + strings.ReplaceAll(a.example, "\n", "\n  "),
			Long: strings.TrimSpace(a.short+".\n"+a.more) + "\n\nWhat it would do is shown first, and what was shown is what runs: should anything have\n" +
				"changed in between, it is refused."}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			return amend(cmd.Context(), c, args[0], f, func(v cluster.ClusterView) (cluster.Amendment, error) { return a.read(c, v, args[1:], f) })
		}
		flags := cmd.Flags()
		if a.flags != nil {
			a.flags(f, flags)
		}
		flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
		flags.BoolVar(&f.preview, "preview", false, "only show what would be done")
		flags.BoolVar(&f.steps, "steps", false, "show every step of the plan too")
		if !a.final {
			declareOnFailure(flags, &f.onFailure, &f.survival, strings.HasPrefix(a.use, "resize") || strings.HasPrefix(a.use, "grow"))
		}
		f.w.declare(cmd)
		all = append(all, cmd)
	}
	return append(all, clusterConfigCommand(c))
}

// amend shows what an amendment would do, asks, and does it.
func amend(ctx context.Context, c *cli.Context, word string, f *amendFlags, read func(cluster.ClusterView) (cluster.Amendment, error)) error {
	switch {
	case f.yes && f.preview:
		return cli.Usagef("--yes and --preview do not go together")
	case f.batch < 0:
		return cli.Usagef("--batch is a number of nodes, from 1 on")
	case !f.yes && !f.preview && !f.harmless && !cli.IsTerminal(c.Stdin):
		return cli.Usagef("this needs --yes where there is no terminal to confirm on").Hint("See first what it would do: --preview.")
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
	m.Survival = f.survival
	p, err := cl.Operations.AmendPreview(ctx, v.ID, m)
	if err != nil {
		return err
	}
	switch {
	case f.preview && c.JSON():
		return c.PrintJSON(p)
	case p.Nothing && c.JSON():
		return c.PrintJSON(v)
	case !c.JSON():
		if err := printAmend(c, v, p, f.steps); err != nil {
			return err
		}
	}
	if f.preview || p.Nothing {
		return nil
	}
	if !f.yes && !f.harmless {
		if err := c.Confirm(ctx, "Go on?", v.Name+" was not changed"); err != nil {
			return err
		}
	}
	after, err := f.w.start(ctx, cl, v.ID)
	if err != nil {
		return err
	}
	m.PlanHash = p.PlanHash
	answer, err := cl.Operations.Amend(ctx, v.ID, m)
	if err != nil {
		return err
	}
	if err := amended(ctx, c, cl, v, answer, f.w, after); err != nil || !f.harmless || !f.w.wait || c.JSON() {
		return err
	}
	cli.Line(c.Stdout, "")
	return show(ctx, c, v.ID, "drift", printDrift)
}

// amended answers for an amendment that was accepted, or that waits for approvals.
func amended(ctx context.Context, c *cli.Context, cl *cli.Client, v cluster.ClusterView, answer cluster.AmendAnswer, w waitFlags, after int64) error {
	now := answer.Cluster
	if answer.Operation == 0 && answer.Request != nil {
		var err error
		if now, err = decided(ctx, c, cl, cluster.Answer{Request: *answer.Request}, w); now == nil || err != nil {
			return err
		}
	}
	switch {
	case now == nil:
		return c.Say(v, "Nothing is to be done: %s is so already.", v.Name)
	case answer.Operation == 0 && answer.Request == nil:
		return c.Say(*now, "Nothing is to be done: %s is so already.", v.Name)
	}
	return started(ctx, c, cl, *now, w, after)
}

// printAmend shows what an amendment would do.
func printAmend(c *cli.Context, v cluster.ClusterView, p cluster.AmendPreview, steps bool) error {
	return amendText{w: c.Stdout, paint: c.Painter(c.Stdout)}.write(v, p, steps)
}

// nodesTouched are those that something is done on, and how many are left as they are.
func nodesTouched(p cluster.AmendPreview) (touched []cluster.AmendedNode, rest int) {
	touched = slices.DeleteFunc(slices.Clone(p.Nodes), func(n cluster.AmendedNode) bool { return !n.Touched() })
	return touched, len(p.Nodes) - len(touched)
}
