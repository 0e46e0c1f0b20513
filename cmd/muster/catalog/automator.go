package catalog

import (
	"log/slog"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/program"
	"muster/automators"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"
)

func AutomatorCommand(c *cli.Context) *cobra.Command {
	return cli.Family("automator", "Look at the tools that carry out services' actions", automatorListCommand(c), automatorTestCommand(c))
}

func automatorListCommand(c *cli.Context) *cobra.Command {
	var tooling families.AutomatorConfig
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the automators of this program, and those in programs of their own; no server is needed", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := tooling.Plug(cmd.Context(), slog.New(slog.DiscardHandler), func(left program.Plugin) {
				cli.Line(c.Stderr, "%s is left out: %s", left.Path, app.AsError(left.Err).Advised())
			})
			if err != nil {
				return err
			}
			all := automators.Descriptors()
			if c.JSON() {
				return c.PrintJSON(map[string]any{"automators": all})
			}
			t := cli.NewTable("NAME", "DESCRIPTION")
			for _, d := range all {
				t.Add(d.Name, cli.Dash(d.Description))
			}
			return t.Show(c)
		}}
	tooling.DeclarePlugins(cmd.Flags())
	return cmd
}
