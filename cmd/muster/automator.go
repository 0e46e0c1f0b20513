package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/program"
	"muster/automators"
)

func automatorCommand(c *cli) *cobra.Command {
	return family("automator", "Look at the tools that carry out services' actions", automatorListCommand(c), automatorTestCommand(c))
}

func automatorListCommand(c *cli) *cobra.Command {
	var tooling automatorConfig
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the automators of this program, and those in programs of their own; no server is needed", Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := tooling.plug(cmd.Context(), slog.New(slog.DiscardHandler), func(left program.Plugin) {
				line(c.stderr, "%s is left out: %s", left.Path, app.AsError(left.Err).Advised())
			})
			if err != nil {
				return err
			}
			all := automators.Descriptors()
			if c.json() {
				return c.printJSON(map[string]any{"automators": all})
			}
			t := newTable("NAME", "DESCRIPTION")
			for _, d := range all {
				t.add(d.Name, dash(d.Description))
			}
			return t.show(c)
		}}
	tooling.declarePlugins(cmd.Flags())
	return cmd
}
