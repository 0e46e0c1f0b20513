package cluster

import (
	"context"
	"strings"

	"muster/app/humanize"
	"muster/app/window"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// windowFlags are those that set maintenance windows.
type windowFlags struct {
	window  []string
	applies []string
	zone    string
	overrun string
	none    bool
}

const windowsHelp = "A window is weekdays and a time, a plus sign and its length, such as \"Sat 02:00 + 4h\", \"Mon-Fri 22:00 + 90m\" or \"daily 03:00 + 1h\".\n" +
	"Instead of weekdays and a time, five crontab fields work too. What isn't given is the default, not what was set before."

func (w *windowFlags) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&w.window, "window", nil, "start and length of a `window`, such as \"Sat 02:00 + 4h\" (repeatable)")
	flags.StringVar(&w.zone, "zone", "", "time `zone` of the windows, such as Europe/Berlin (default: UTC)")
	flags.StringSliceVar(&w.applies, "applies-to", nil, "`kinds` of changes that wait (default: upgrade,repair,auto_repair,approved)")
	flags.StringVar(&w.overrun, "overrun", "", "`choice` for changes that take longer than the window: allow or wait (default: allow)")
	flags.BoolVar(&w.none, "none", false, "no windows: changes start at once")
}

// set reports whether anything is to be set.
func (w *windowFlags) set() bool { return len(w.window) > 0 || w.none }

func (w *windowFlags) settings() (window.Settings, error) {
	s := window.Settings{Windows: []window.Window{}, Overrun: window.Overrun(w.overrun)}
	switch {
	case w.none && (len(w.window) > 0 || w.zone != "" || len(w.applies) > 0 || w.overrun != ""):
		return s, cli.Usagef("--none can't be combined with other flags")
	case !w.set() && (w.zone != "" || len(w.applies) > 0 || w.overrun != ""):
		return s, cli.Usagef("--zone, --applies-to and --overrun require --window")
	}
	for _, text := range w.window {
		start, length, ok := strings.Cut(text, "+")
		if !ok {
			return s, cli.Usagef("%q isn't a window", text).Hint("Write start + length: --window \"Sat 02:00 + 4h\"")
		}
		s.Windows = append(s.Windows, window.Window{Start: strings.TrimSpace(start), Length: strings.TrimSpace(length), Zone: w.zone})
	}
	for _, r := range w.applies {
		s.AppliesTo = append(s.AppliesTo, window.Reason(strings.ReplaceAll(r, "-", "_")))
	}
	return s, nil
}

// MaintenanceCommand shows and sets the tenant's maintenance windows.
func MaintenanceCommand(c *cli.Context) *cobra.Command {
	var w windowFlags
	var locked bool
	cmd := &cobra.Command{
		Use:   "maintenance",
		Short: "Show or set the tenant's maintenance windows",
		Long:  "Show when upgrades, repairs and approved changes can start. --window replaces the tenant's windows; --none removes them.\n" + windowsHelp,
		Example: "  muster maintenance --window \"Sat 02:00 + 4h\" --zone Europe/Berlin\n" +
			"  muster maintenance --window \"Sat,Sun 01:00 + 6h\" --applies-to upgrade,restart --overrun wait\n  muster maintenance --none",
		Args: cli.AtMost(0),
	}
	w.declare(cmd)
	cmd.Flags().BoolVar(&locked, "locked", false, "clusters can't have windows of their own")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		s, err := w.settings()
		if err != nil {
			return err
		}
		if locked && !w.set() {
			return cli.Usagef("--locked requires --window or --none")
		}
		s.Locked = locked
		v, err := cl.Maintenance.Get(ctx, "")
		if w.set() {
			v, err = cl.Maintenance.Set(ctx, "", s)
		}
		if err != nil {
			return err
		}
		return printMaintenance(c, v)
	})
}

func clusterMaintenanceCommand(c *cli.Context) *cobra.Command {
	var w windowFlags
	var inherit bool
	cmd := &cobra.Command{
		Use:   "maintenance ID|NAME",
		Short: "Show or set a cluster's maintenance windows",
		Long: "Show when changes of a cluster can start, and which wait. --window sets windows of the cluster itself, instead of the tenant's;\n" +
			"--inherit removes them again.\n" + windowsHelp,
		Example: "  muster cluster maintenance shop\n  muster cluster maintenance shop --window \"Sun 02:00 + 3h\" --zone Europe/Berlin\n  muster cluster maintenance shop --inherit",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := w.settings()
			if err != nil {
				return err
			}
			if inherit && w.set() {
				return cli.Usagef("--inherit can't be combined with other flags")
			}
			cl, v, err := ConnectTo(ctx, c, args[0], false)
			if err != nil {
				return err
			}
			var m window.View
			switch {
			case inherit:
				m, err = cl.Maintenance.Inherit(ctx, v.ID)
			case w.set():
				m, err = cl.Maintenance.Set(ctx, v.ID, s)
			default:
				m, err = cl.Maintenance.Get(ctx, v.ID)
			}
			if err != nil {
				return err
			}
			return printMaintenance(c, m)
		},
	}
	w.declare(cmd)
	cmd.Flags().BoolVar(&inherit, "inherit", false, "use the tenant's windows")
	return cmd
}

func printMaintenance(c *cli.Context, v window.View) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	if v.None() {
		cli.Line(c.Stdout, "No maintenance windows: changes start at once.")
	} else {
		of := map[window.Source]string{window.FromTenant: "tenant", window.FromCluster: "this cluster only"}[v.Source]
		for _, w := range v.Windows {
			zone := w.Zone
			if zone == "" {
				zone = "UTC"
			}
			cli.Line(c.Stdout, "Window      %s + %s (%s), %s", w.Start, w.Length, zone, of)
		}
		names := make([]string, len(v.AppliesTo))
		for i, r := range v.AppliesTo {
			names[i] = string(r)
		}
		cli.Line(c.Stdout, "Applies to  %s", humanize.And(names))
		cli.Line(c.Stdout, "Overrun     %s", v.Overrun)
		if v.TenantLocked {
			cli.Line(c.Stdout, "Locked      clusters can't have windows of their own")
		}
		cli.Line(c.Stdout, "%s", v.Text())
	}
	printScheduled(c, v)
	return nil
}

// printScheduled lists the changes that wait for a window.
func printScheduled(c *cli.Context, v window.View) {
	for _, w := range v.Waiting {
		cli.Line(c.Stdout, "%s (request %d)", w.Text(), w.Request)
	}
}
