package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"muster/app/cluster"
	"muster/app/inventory"
	"muster/cmd/muster/cli"
)

func InventoryCommand(c *cli.Context) *cobra.Command {
	var format string
	var files inventory.InventoryFiles
	names := make([]string, len(inventory.InventoryFormats))
	for i, f := range inventory.InventoryFormats {
		names[i] = string(f)
	}
	cmd := &cobra.Command{
		Use:   "inventory ID|NAME",
		Short: "Tell other tools how the machines of a cluster are reached",
		Long: "Tell other tools how the machines of a cluster are reached: as an Ansible inventory (groups are services), for ~/.ssh/config, as known_hosts\n" +
			"with the host keys, for /etc/hosts, as JSON, or as assignments for shells. No secret is in it.\n\n" +
			"An inventory names two files: the cluster's private key and its host keys. Unless you name others, both are written into Muster's own directory\n" +
			"on this computer and named from there, so the inventory can be used at once. If you may not have the key, put your own with --key.\n\n" +
			"    muster cluster inventory shop --format ssh > shop.ssh && ssh -F shop.ssh n1.shop\n" +
			"    muster cluster inventory shop --format ansible > shop.ini && ansible -i shop.ini web -m ping",
		Args: cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(names, format) {
				return cli.Usagef("there is no inventory %q", format).Hint("One of %s.", strings.Join(names, ", "))
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			if err := keepNamed(cmd.Context(), cl, v, inventory.InventoryFormat(format), &files); err != nil {
				return err
			}
			i, err := inventory.NewInventory(v, files)
			if err != nil {
				return err
			}
			text, _, _, err := i.File(inventory.InventoryFormat(format))
			if err != nil {
				return err
			}
			c.Printed = true
			_, err = io.WriteString(c.Bytes(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "ssh", "in which `form`: "+strings.Join(names, ", "))
	cmd.Flags().StringVar(&files.Key, "key", "", "`FILE` in which you keep the cluster's private key; it is named, never read (default: written into Muster's own directory)")
	cmd.Flags().StringVar(&files.KnownHosts, "known-hosts", "", "`FILE` in which you keep the cluster's host keys, --format known_hosts; it is named, never read (default: written into Muster's own directory)")
	return cmd
}

// keepNamed writes the files that an inventory is to name into the client's key directory, where no one has said which they are. A path that
// cannot be part of an inventory leaves the default names, as does a key that one may not have.
func keepNamed(ctx context.Context, cl *cli.Client, v cluster.ClusterView, f inventory.InventoryFormat, files *inventory.InventoryFiles) error {
	if !slices.Contains([]inventory.InventoryFormat{inventory.InventorySSH, inventory.InventoryAnsible, inventory.InventoryAnsibleYAML, inventory.InventoryEnv, inventory.InventoryJSON}, f) || files.Key != "" && files.KnownHosts != "" {
		return nil
	}
	base, err := keyBase(cl.Home, v.ID)
	if err != nil || !inventory.InventoryPath(base+".known_hosts") {
		return err
	}
	if files.KnownHosts == "" {
		if err := cli.WritePrivate(base+".known_hosts", []byte(KnownHosts(reachableNodes(v)))); err != nil {
			return fmt.Errorf("keep the host keys of %s: %w", v.Name, err)
		}
		files.KnownHosts = base + ".known_hosts"
	}
	if files.Key != "" {
		return nil
	}
	if _, err := reachNodes(ctx, cl, v); err != nil {
		return err
	}
	if _, err := os.Stat(base + ".pem"); err == nil {
		files.Key = base + ".pem"
	}
	return nil
}
