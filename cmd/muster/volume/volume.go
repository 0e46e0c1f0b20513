package volume

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"muster/app/humanize"
	"muster/app/volume"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// Command manages volumes.
func Command(c *cli.Context) *cobra.Command {
	cmd := cli.Family("volume", "Manage volumes: disks that outlive machines",
		listCommand(c), showCommand(c), extendCommand(c), deleteCommand(c), forgetCommand(c),
		snapshotCommand(c), snapshotsCommand(c), scheduleCommand(c))
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

func listCommand(c *cli.Context) *cobra.Command {
	var (
		cluster       string
		kept, deleted bool
	)
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List volumes", Args: cli.AtMost(0),
		Long:    "List your volumes, or those of a cluster. Admins see everyone's.",
		Example: "  muster volume list --kept\n  muster volume list --cluster shop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			list, err := cl.Volumes.List(cmd.Context(), cluster, kept, deleted)
			if err != nil {
				return err
			}
			return printVolumes(c, list)
		}}
	cmd.Flags().StringVar(&cluster, "cluster", "", "only volumes that this `cluster` (ID or name) has, or left")
	cmd.Flags().BoolVar(&kept, "kept", false, "only volumes that belong to no cluster")
	cmd.Flags().BoolVar(&deleted, "deleted", false, "include deleted volumes")
	return cmd
}

func printVolumes(c *cli.Context, list []volume.Volume) error {
	if c.JSON() {
		return c.PrintJSON(map[string][]volume.Volume{"volumes": list})
	}
	if len(list) == 0 {
		cli.Line(c.Stdout, "No volumes.")
		return nil
	}
	t := cli.NewTable("ID", "NAME", "STATE", "CLUSTER", "NODE", "SIZE>", "OWNER", "COST/H>", "EXPIRES")
	for _, v := range list {
		cluster := v.Cluster
		if cluster == "" && v.From != "" {
			cluster = "(" + v.From + ")"
		}
		t.Add(v.ID, v.Name, string(v.State), cluster, v.Node, strconv.Itoa(v.SizeGB)+" GB", v.Owner, humanize.Price(v.Price, v.Currency), expiresWord(v))
	}
	return t.Show(c)
}

func expiresWord(v volume.Volume) string {
	switch {
	case v.State != volume.StateKept:
		return ""
	case v.ExpiresAt.IsZero():
		return "never"
	}
	return v.ExpiresAt.UTC().Format(time.DateOnly)
}

func printVolume(c *cli.Context, v volume.Volume) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	if err := printVolumes(c, []volume.Volume{v}); err != nil {
		return err
	}
	where := fmt.Sprintf("Provider %s", v.Provider)
	if v.External != "" {
		where += ", " + v.External
	}
	if v.Machine != "" {
		where += ", attached to " + v.Machine
	}
	cli.Line(c.Stdout, "%s. Mounted on %s (%s). When its node is deleted: %s.", where, v.Mount, v.Filesystem, v.OnDelete)
	if v.Snapshots.Every != "" {
		cli.Line(c.Stdout, "Snapshots: %s.", v.Snapshots)
	}
	if v.Error != "" {
		cli.Line(c.Stdout, "Last error: %s", v.Error)
	}
	if v.Proof != "" {
		cli.Line(c.Stdout, "%s", v.Proof)
	}
	return nil
}

func showCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "show ID", Short: "Show a volume", Args: cli.Exactly("ID"), Example: "  muster volume show vol-abc",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			v, err := cl.Volumes.Get(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return printVolume(c, v)
		}}
}

func extendCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "extend ID DURATION", Short: "Change how long a kept volume is kept", Args: cli.Exactly("ID", "DURATION"),
		Example: "  muster volume extend vol-abc 60d\n  muster volume extend vol-abc forever",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			v, err := cl.Volumes.Extend(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return printVolume(c, v)
		}}
}

func deleteCommand(c *cli.Context) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete ID", Aliases: []string{"rm"}, Short: "Delete a kept volume, or a snapshot, with all data on it", Args: cli.Exactly("ID"),
		Example: "  muster volume delete vol-abc\n  muster volume delete snap-abc",
		RunE: func(cmd *cobra.Command, args []string) error {
			if volume.IsSnapshot(args[0]) {
				return deleteSnapshot(cmd, c, args[0], yes)
			}
			return changeVolume(cmd.Context(), c, args[0], yes, "Delete volume %s (%s, %d GB) with all data on it?",
				func(cl *cli.Client) volumeCall { return cl.Volumes.Delete })
		}}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

func forgetCommand(c *cli.Context) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "forget ID", Short: "Forget a volume that no longer exists at its provider", Args: cli.Exactly("ID"),
		Example: "  muster volume forget vol-abc",
		Long:    "Forget a volume that no longer exists at its provider, so that the next repair or resume creates an empty one for its node.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeVolume(cmd.Context(), c, args[0], yes, "Forget volume %s (%s, %d GB)? Its node gets an empty one.",
				func(cl *cli.Client) volumeCall { return cl.Volumes.Forget })
		}}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	return cmd
}

// volumeCall does something to a volume.
type volumeCall func(ctx context.Context, id string) (volume.Volume, error)

// changeVolume asks the person at the terminal, and does it.
func changeVolume(ctx context.Context, c *cli.Context, id string, yes bool, question string, call func(*cli.Client) volumeCall) error {
	if !yes && !cli.IsTerminal(c.Stdin) {
		return cli.Usagef("--yes is required without a terminal to confirm on")
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	if !yes {
		v, err := cl.Volumes.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := c.Confirm(ctx, fmt.Sprintf(question, v.Name, v.ID, v.SizeGB), v.Name+" was not changed"); err != nil {
			return err
		}
	}
	v, err := call(cl)(ctx, id)
	if err != nil {
		return err
	}
	return printVolume(c, v)
}
