package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster/app"
)

func clusterInventoryCommand(c *cli) *cobra.Command {
	var format, key string
	names := make([]string, len(app.InventoryFormats))
	for i, f := range app.InventoryFormats {
		names[i] = string(f)
	}
	cmd := &cobra.Command{
		Use:   "inventory ID|NAME",
		Short: "Tell other tools how the machines of a cluster are reached",
		Long: "Tell other tools how the machines of a cluster are reached: as an Ansible inventory (groups are services), for ~/.ssh/config, as known_hosts\n" +
			"with the host keys, for /etc/hosts, as JSON, or as assignments for shells. No secret is in it.\n\n" +
			"    muster cluster inventory shop --format ssh > ~/.ssh/config.d/shop\n" +
			"    muster cluster inventory shop --format ansible > shop.ini && ansible -i shop.ini web -m ping",
		Args: exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(names, format) {
				return usagef("there is no inventory %q", format).hint("One of %s.", strings.Join(names, ", "))
			}
			_, v, err := c.connectTo(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			i, err := app.NewInventory(v, key)
			if err != nil {
				return err
			}
			text, _, _, err := i.File(app.InventoryFormat(format))
			if err != nil {
				return err
			}
			c.printed = true
			_, err = io.WriteString(c.bytes(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "ssh", "in which `form`: "+strings.Join(names, ", "))
	cmd.Flags().StringVar(&key, "key", "", "`FILE` in which you keep the cluster's key; it is named, never read (default ~/.ssh/muster-ID.pem)")
	return cmd
}
