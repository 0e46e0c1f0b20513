package fleet

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func ProvisionerShowCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show a provisioner: its tenants, load, last heartbeat, and the steps that its workers run",
		Long:    "Show a provisioner: its tenants, load, last heartbeat, and the steps that its workers run. ID can also be a name, if only one registered provisioner has it.",
		Example: "  muster provisioner show lab-1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			d, err := cl.Provisioners.Show(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(d)
			}
			return printProvisioner(c, d)
		},
	}
	c.ServerFlags(cmd.Flags())
	return cmd
}

func printProvisioner(c *cli.Context, d fleet.ProvisionerDetail) error {
	heard := humanize.Ago(time.Now(), d.SeenAt)
	if strings.HasPrefix(d.ID, fleet.LocalPrefix) && d.State.Alive() {
		heard = "part of a server"
	}
	only := "all"
	if len(d.Only) > 0 {
		only = strings.Join(d.Only, ", ")
	}
	for _, line := range [][2]string{{"Name", d.Name}, {"ID", d.ID}, {"Host", d.Host}, {"State", string(d.State)},
		{"Slots", fmt.Sprintf("%d of %d in use", d.Used(), d.Slots)},
		{"Last seen", heard}, {"Registered", humanize.Ago(time.Now(), d.RegisteredAt)}, {"Version", d.Version}, {"Tags", cli.Dash(app.TagText(d.Tags))},
		{"Token", cli.Dash(d.Token)}, {"Tenants", only}} {
		fmt.Fprintf(c.Stdout, "%-11s %s\n", line[0]+":", line[1])
	}
	if len(d.Tenants) > 0 {
		fmt.Fprintln(c.Stdout)
		t := cli.NewTable("TENANT", "RUNNING>", "SLOTS>")
		for _, s := range d.Tenants {
			t.Add(s.Tenant, fmt.Sprint(s.Running), fmt.Sprint(s.Slots))
		}
		if err := t.Show(c); err != nil {
			return err
		}
	}
	if len(d.Steps) == 0 {
		_, err := fmt.Fprintln(c.Stdout, "\nNo steps are running.")
		return err
	}
	fmt.Fprintln(c.Stdout)
	t := cli.NewTable("STEP", "SERVICE", "NODE", "CLUSTER", "TENANT", "RUNNING FOR>", "WORKER")
	for _, s := range d.Steps {
		t.Add(string(s.Action), cli.Dash(s.Service), cli.Dash(s.Node), s.Cluster, s.Tenant, humanize.Duration(time.Since(s.StartedAt)), s.Worker)
	}
	return t.Show(c)
}
