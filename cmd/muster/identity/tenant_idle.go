package identity

import (
	"muster/app/humanize"
	"muster/app/idle"
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func tenantIdleCommand(c *cli.Context) *cobra.Command {
	var v idle.PolicyView
	var then, owner string
	var off bool
	cmd := &cobra.Command{
		Use:   "idle",
		Short: "Show or set the tenant's idle policy",
		Long: "Show the idle policy of clusters whose templates have none. Flags replace it, also for existing clusters: a cluster is idle while all the\n" +
			"conditions hold on all its nodes. What can't be measured counts as in use. --off removes the policy.",
		Example: "  muster tenant idle --no-ssh --load-below 0.1 --after 2h --grace 30m --then sleep\n  muster tenant idle --off",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			set := false
			for _, name := range []string{"no-ssh", "load-below", "no-connections-to", "gpu-below", "after", "grace", "then", "owner-may", "max-keep"} {
				set = set || cmd.Flags().Changed(name)
			}
			if off && set {
				return cli.Usagef("--off can't be combined with other flags")
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			v.Then, v.OwnerMay = template.IdleAction(then), template.IdleChoice(owner)
			var d idle.Default
			switch {
			case off:
				d, err = cl.Idle.SetPolicy(cmd.Context(), nil)
			case set:
				d, err = cl.Idle.SetPolicy(cmd.Context(), &v)
			default:
				d, err = cl.Idle.Policy(cmd.Context())
			}
			if err != nil {
				return err
			}
			return printIdlePolicy(c, d)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&v.If.NoSSH, "no-ssh", false, "idle only without SSH connections, besides Muster's own")
	flags.Float64Var(&v.If.LoadBelow, "load-below", 0, "idle only if the five-minute load per core is below this `number`")
	flags.IntSliceVar(&v.If.NoConnections, "no-connections-to", nil, "idle only without connections to these `ports`")
	flags.IntVar(&v.If.GPUBelow, "gpu-below", 0, "idle only if every GPU is used less than this many `percent`")
	flags.StringVar(&v.After, "after", "", "`duration` of being idle until the owner is warned, such as 2h")
	flags.StringVar(&v.Grace, "grace", "", "`duration` from the warning to the action (default: 30m)")
	flags.StringVar(&then, "then", "", "what happens: sleep, delete or warn (default: sleep)")
	flags.StringVar(&owner, "owner-may", "", "what owners can do: keep, turn_off or nothing (default: keep)")
	flags.StringVar(&v.MaxKeep, "max-keep", "", "longest `duration` to keep a cluster at once (default: 24h)")
	flags.BoolVar(&off, "off", false, "remove the policy")
	c.ServerFlags(flags)
	return cmd
}

func printIdlePolicy(c *cli.Context, d idle.Default) error {
	if c.JSON() {
		return c.PrintJSON(d)
	}
	if d.Policy == nil {
		cli.Line(c.Stdout, "The tenant has no idle policy.")
		return nil
	}
	cli.Line(c.Stdout, "Clusters are idle with %s.", humanize.And(d.Policy.Conditions))
	cli.Line(c.Stdout, "After %s, the owner is warned; then: %s, %s later. The owner can: %s.", d.Policy.After, d.Policy.Then, d.Policy.Grace,
		humanize.Spaced(string(d.Policy.OwnerMay)))
	return nil
}
