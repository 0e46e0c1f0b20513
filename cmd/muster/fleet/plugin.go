package fleet

import (
	"cmp"
	"fmt"

	"muster/app/plugin"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// PluginCommand manages the programs that add types of providers and automators.
func PluginCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("plugin", "List, register and remove plugins (superadmins)", pluginListCommand(c), pluginRegisterCommand(c), pluginRemoveCommand(c))
	c.ServerFlags(cmd.PersistentFlags())
	return cmd
}

func pluginListCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the plugins on the server",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			all, err := cl.Plugins.List(cmd.Context())
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string][]plugin.View{"plugins": all})
			}
			if len(all) == 0 {
				_, err := fmt.Fprintln(c.Stdout, "No plugins. Start the server with --provider-plugins or --automator-plugins.")
				return err
			}
			t := cli.NewTable("NAME", "KIND", "TYPE", "STATE", "SHA-256", "NOTE")
			for _, v := range all {
				t.Add(v.Name, string(v.Kind), v.Type, string(v.State), cmp.Or(v.SHA256[:min(len(v.SHA256), 12)], "-"), cmp.Or(v.Problem, "-"))
			}
			return t.Show(c)
		},
	}
}

func pluginRegisterCommand(c *cli.Context) *cobra.Command {
	var sum string
	cmd := &cobra.Command{
		Use:   "register NAME",
		Short: "Register a plugin: only this file of it is run from now on",
		Long: "Register a plugin that an operator has put into the server's directory of plugins. Its file is pinned by its SHA-256: another file of that name\n" +
			"isn't run. NAME is that of the file. A removed plugin can be used again.",
		Example: "  muster plugin register muster-provider-lab\n  muster plugin register muster-provider-lab --sha256 $(sha256sum muster-provider-lab | cut -d ' ' -f 1)",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return decidePlugin(c, func(cl *cli.Client) (plugin.View, error) {
				return cl.Plugins.Register(cmd.Context(), args[0], sum)
			})
		},
	}
	cmd.Flags().StringVar(&sum, "sha256", "", "`SHA-256` that the file must have (default: that of the file on the server)")
	return cmd
}

func pluginRemoveCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a plugin: it isn't run any more",
		Long: "Remove a plugin. Running processes of it are ended, and catalogs can't use its type. Machines of clusters that use it keep running, but Muster\n" +
			"can't change or delete them until it's registered again. The file stays.",
		Example: "  muster plugin remove muster-provider-lab",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return decidePlugin(c, func(cl *cli.Client) (plugin.View, error) { return cl.Plugins.Remove(cmd.Context(), args[0]) })
		},
	}
}

func decidePlugin(c *cli.Context, decide func(*cli.Client) (plugin.View, error)) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	v, err := decide(cl)
	if err != nil {
		return err
	}
	if c.JSON() {
		return c.PrintJSON(v)
	}
	text := fmt.Sprintf("Plugin %s was removed. Register it to use it again.", v.Name)
	if v.State == plugin.Registered {
		text = fmt.Sprintf("Plugin %s is registered with SHA-256 %s.", v.Name, v.Pinned)
	}
	if v.Problem != "" {
		text += " " + v.Problem
	}
	_, err = fmt.Fprintln(c.Stdout, text)
	return err
}
