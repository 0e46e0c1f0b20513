package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"muster/app/cluster"
	"muster/app/inventory"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func InventoryCommand(c *cli.Context) *cobra.Command {
	var format string
	var files inventory.Files
	names := make([]string, len(inventory.Formats))
	for i, f := range inventory.Formats {
		names[i] = string(f)
	}
	cmd := &cobra.Command{
		Use:   "inventory ID|NAME",
		Short: "Print connection details of a cluster for other tools",
		Long: "Print how to reach the machines of a cluster: as an Ansible inventory (grouped by service), for ~/.ssh/config, as known_hosts with\n" +
			"the host keys, for /etc/hosts, as JSON, or as shell variables. The output contains no secrets.\n\n" +
			"An inventory refers to two files: the cluster's private key and its host keys. By default, Muster writes both to its own directory on\n" +
			"this host, so you can use the inventory right away. If you aren't allowed to get the key, name your own with --key.",
		Example: "  muster cluster inventory shop --format ssh > shop.ssh && ssh -F shop.ssh n1.shop\n" +
			"  muster cluster inventory shop --format ansible > shop.ini && ansible -i shop.ini web -m ping",
		Args: cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(names, format) {
				return cli.Usagef("invalid --format %s", format).Hint("Choose one of %s.", strings.Join(names, ", "))
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			if err := keepNamed(cmd.Context(), cl, v, inventory.Format(format), &files); err != nil {
				return err
			}
			i, err := inventory.NewInventory(v, files)
			if err != nil {
				return err
			}
			text, _, _, err := i.File(inventory.Format(format))
			if err != nil {
				return err
			}
			c.Printed = true
			_, err = io.WriteString(c.Bytes(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "ssh", "inventory `format`: "+strings.Join(names, ", "))
	cmd.Flags().StringVar(&files.Key, "key", "", "`file` with the cluster's private key; only referred to, never read (default: written to Muster's own directory)")
	cmd.Flags().StringVar(&files.KnownHosts, "known-hosts", "", "`file` with the cluster's host keys, from --format known_hosts; only referred to, never read (default: written to Muster's own directory)")
	return cmd
}

// keepNamed writes the files that an inventory refers to into the client's key directory, unless flags name others. A path that can't
// be part of an inventory leaves the default names, as does a key that the user isn't allowed to get.
func keepNamed(ctx context.Context, cl *cli.Client, v cluster.View, f inventory.Format, files *inventory.Files) error {
	if !slices.Contains([]inventory.Format{inventory.FormatSSH, inventory.FormatAnsible, inventory.FormatAnsibleYAML, inventory.FormatEnv, inventory.FormatJSON}, f) || files.Key != "" && files.KnownHosts != "" {
		return nil
	}
	base, err := keyBase(cl.Home, v.ID)
	if err != nil || !inventory.Path(base+".known_hosts") {
		return err
	}
	if files.KnownHosts == "" {
		if err := cli.WritePrivate(base+".known_hosts", []byte(KnownHosts(reachableNodes(v)))); err != nil {
			return fmt.Errorf("save the host keys of %s: %w", v.Name, err)
		}
		files.KnownHosts = base + ".known_hosts"
	}
	if files.Key != "" {
		return nil
	}
	if _, err := fetchSSHAccess(ctx, cl, v); err != nil {
		return err
	}
	if _, err := os.Stat(base + ".pem"); err == nil {
		files.Key = base + ".pem"
	}
	return nil
}
