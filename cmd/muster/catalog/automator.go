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
	types := automatorTypesCommand(c)
	c.ServerFlags(types.Flags())
	return cli.Family("automator", "List and test automators, the tools that run services' actions", automatorListCommand(c), types, automatorTestCommand(c))
}

func automatorListCommand(c *cli.Context) *cobra.Command {
	var tooling families.AutomatorConfig
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List built-in automators and plugins (no server needed)", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := tooling.Plug(cmd.Context(), slog.New(slog.DiscardHandler), func(left program.Plugin) {
				cli.Line(c.Stderr, "skipping %s: %s", left.Path, app.AsError(left.Err).Advised())
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
