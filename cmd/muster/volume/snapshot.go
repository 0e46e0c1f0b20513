package volume

import (
	"fmt"
	"strconv"
	"time"

	"muster/app/humanize"
	"muster/app/volume"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func snapshotCommand(c *cli.Context) *cobra.Command {
	var keep int
	cmd := &cobra.Command{Use: "snapshot ID", Short: "Create a snapshot of a volume", Args: cli.Exactly("ID"),
		Example: "  muster volume snapshot vol-abc\n  muster volume snapshot vol-abc --keep 14",
		Long:    "Create a snapshot of a volume as it is now. Older snapshots of the volume are deleted once there are more than --keep.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if keep < 1 || keep > volume.MostKeepSnapshots {
				return cli.Usagef("--keep must be from 1 to %d, not %d", volume.MostKeepSnapshots, keep)
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			s, err := cl.Volumes.Snapshot(cmd.Context(), args[0], keep)
			if err != nil {
				return err
			}
			return printSnapshots(c, []volume.Snapshot{s}, true)
		}}
	cmd.Flags().IntVar(&keep, "keep", volume.KeepSnapshots, "how many snapshots of the volume to keep, 1 to 100")
	return cmd
}

func snapshotsCommand(c *cli.Context) *cobra.Command {
	var (
		of      string
		deleted bool
	)
	cmd := &cobra.Command{Use: "snapshots", Short: "List snapshots of volumes", Args: cli.AtMost(0), Example: "  muster volume snapshots --volume vol-abc",
		Long: "List your snapshots, or those of a volume. Admins see everyone's. To delete one: muster volume delete snap-abc",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			list, err := cl.Volumes.Snapshots(cmd.Context(), of, deleted)
			if err != nil {
				return err
			}
			return printSnapshots(c, list, false)
		}}
	cmd.Flags().StringVar(&of, "volume", "", "only snapshots of this volume (`ID`)")
	cmd.Flags().BoolVar(&deleted, "deleted", false, "include deleted snapshots")
	return cmd
}

func printSnapshots(c *cli.Context, list []volume.Snapshot, one bool) error {
	if c.JSON() && one {
		return c.PrintJSON(list[0])
	}
	if c.JSON() {
		return c.PrintJSON(map[string][]volume.Snapshot{"snapshots": list})
	}
	if len(list) == 0 {
		cli.Line(c.Stdout, "No snapshots.")
		return nil
	}
	t := cli.NewTable("ID", "VOLUME", "NAME", "STATE", "CLUSTER", "NODE", "SIZE>", "COST/H>", "OWNER", "CREATED")
	for _, s := range list {
		t.Add(s.ID, s.Volume, s.Name, string(s.State), s.Cluster, s.Node, strconv.Itoa(s.SizeGB)+" GB", humanize.Price(s.Price, s.Currency),
			s.Owner, s.CreatedAt.UTC().Format(time.DateTime)+" UTC")
	}
	if err := t.Show(c); err != nil {
		return err
	}
	for _, s := range list {
		if s.Error != "" {
			cli.Line(c.Stdout, "Last error of %s: %s", s.ID, s.Error)
		}
	}
	return nil
}

// deleteSnapshot asks the person at the terminal, and deletes a snapshot.
func deleteSnapshot(cmd *cobra.Command, c *cli.Context, id string, yes bool) error {
	if !yes && !cli.IsTerminal(c.Stdin) {
		return cli.Usagef("--yes is required without a terminal to confirm on")
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	if !yes {
		if err := c.Confirm(cmd.Context(), fmt.Sprintf("Delete snapshot %s?", id), id+" was not changed"); err != nil {
			return err
		}
	}
	s, err := cl.Volumes.DeleteSnapshot(cmd.Context(), id)
	if err != nil {
		return err
	}
	return printSnapshots(c, []volume.Snapshot{s}, true)
}
