package volume

import (
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func scheduleCommand(c *cli.Context) *cobra.Command {
	var (
		s   template.Snapshots
		off bool
	)
	cmd := &cobra.Command{Use: "schedule ID", Short: "Set when snapshots of a volume are created", Args: cli.Exactly("ID"),
		Example: "  muster volume schedule vol-abc --every 24h --keep 7\n  muster volume schedule vol-abc --every \"0 2 * * *\" --keep-for 30d\n" +
			"  muster volume schedule vol-abc --off",
		Long: "Set when snapshots of a volume are created, and how long they are kept. Snapshots that you create yourself aren't deleted by it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if off == (s.Every != "") || off && (s.Keep != 0 || s.KeepFor != "") {
				return cli.Usagef("use either --off, or --every with --keep or --keep-for")
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			v, err := cl.Volumes.SetSnapshots(cmd.Context(), args[0], s)
			if err != nil {
				return err
			}
			return printVolume(c, v)
		}}
	cmd.Flags().StringVar(&s.Every, "every", "", "`time` between two snapshots, 1h to 90d, or the five fields of a crontab in UTC")
	cmd.Flags().IntVar(&s.Keep, "keep", 0, "how many scheduled snapshots to keep, 1 to 100")
	cmd.Flags().StringVar(&s.KeepFor, "keep-for", "", "how long to keep each scheduled snapshot, such as 30d")
	cmd.Flags().BoolVar(&off, "off", false, "create no more snapshots by schedule")
	return cmd
}
