package catalog

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"muster/app/catalog"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/app/template"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// ProviderCommand lets admins inspect providers' accounts.
func ProviderCommand(c *cli.Context) *cobra.Command {
	return cli.Family("provider", "List, check and test providers",
		providerListCommand(c), providerTypesCommand(c), providerCheckCommand(c), providerOffersCommand(c), providerTestCommand(c), providerProveCommand(c))
}

func providerListCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the providers of the catalog", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var out struct {
				Items []catalog.Item `json:"items"`
			}
			if err := cl.Call(cmd.Context(), http.MethodGet, "/catalog", url.Values{"kind": {template.KindProvider}}, nil, &out); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"providers": out.Items})
			}
			t := cli.NewTable("NAME", "LABEL", "CATALOG", "DESCRIPTION")
			for _, i := range out.Items {
				whose := "shared"
				if i.Own {
					whose = "tenant"
				}
				t.Add(i.Name, cli.Dash(i.Label), whose, cli.Dash(i.Description))
			}
			return t.Show(c)
		}}
}

func providerCheckCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "check NAME", Short: "Check the account of a provider", Args: cli.Exactly("NAME"),
		Long: "Check a provider's account: credentials, permissions, quota, and every flavor and image that the catalog names for the provider. The\n" +
			"server calls the cloud's API; nothing is created or changed there.\n\nThe exit code is 1 if a check fails.",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var found fleet.ProviderCheck
			if err := cl.Call(cmd.Context(), http.MethodPost, "/providers/"+url.PathEscape(args[0])+"/check", nil, nil, &found); err != nil {
				return err
			}
			if c.JSON() {
				err = c.PrintJSON(found)
			} else {
				err = printCheck(c, found)
			}
			if err == nil && !found.OK {
				err = cli.SilentError{}
			}
			return err
		}}
}

func printCheck(c *cli.Context, found fleet.ProviderCheck) error {
	paint := c.Painter(c.Stdout)
	for _, f := range found.Findings {
		word, colour := "ok", cli.ColourComes
		switch {
		case f.OK:
		case f.Warning:
			word, colour = "warning", cli.ColourChanges
		default:
			word, colour = "failed", cli.ColourGoes
		}
		about := strings.TrimSpace(f.About + " " + f.Subject)
		cli.Line(c.Stdout, "%s %s: %s", paint(colour, fmt.Sprintf("%-7s", word)), about, f.Message)
		if f.Hint != "" && !f.OK {
			cli.Line(c.Stdout, "        %s", f.Hint)
		}
	}
	end := "All checks passed."
	if !found.OK {
		end = "Creating machines may fail until this is fixed."
	}
	_, err := fmt.Fprintf(c.Stdout, "\n%s (%s): %s\n", found.Provider, found.Type, end)
	return err
}

func providerOffersCommand(c *cli.Context) *cobra.Command {
	var flavors, images bool
	cmd := &cobra.Command{Use: "offers NAME", Short: "List the zones, flavors and images of a provider", Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var o family.Offers
			if err := cl.Call(cmd.Context(), http.MethodGet, "/providers/"+url.PathEscape(args[0])+"/offers", nil, nil, &o); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(o)
			}
			all := !flavors && !images
			if all && len(o.Zones) > 0 {
				cli.Line(c.Stdout, "Zones: %s\n", strings.Join(o.Zones, ", "))
			}
			if all || flavors {
				if err := printFlavors(c, o); err != nil {
					return err
				}
			}
			if all || images {
				if all {
					cli.Line(c.Stdout, "")
				}
				return printImages(c, o)
			}
			return nil
		}}
	cmd.Flags().BoolVar(&flavors, "flavors", false, "list flavors only")
	cmd.Flags().BoolVar(&images, "images", false, "list images only")
	return cmd
}

// gpuWords is such as "2 nvidia-l4".
func gpuWords(f template.Flavor) string {
	if f.GPUs == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", f.GPUs, f.GPU))
}

func printFlavors(c *cli.Context, o family.Offers) error {
	t := cli.NewTable("FLAVOR", "CPU>", "MEMORY GB>", "DISK GB>", "GPUS", "COST/H>", "ZONES")
	for _, f := range o.Flavors {
		t.Add(f.Flavor.Flavor, number(f.CPU), number(f.MemoryGB), number(f.DiskGB), cli.Dash(gpuWords(f.Flavor)), humanize.Price(f.CostPerHour, o.Currency),
			cli.Dash(strings.Join(f.Zones, ", ")))
	}
	return t.Show(c)
}

func printImages(c *cli.Context, o family.Offers) error {
	t := cli.NewTable("IMAGE", "DESCRIPTION", "USER", "CREATED")
	for _, i := range o.Images {
		made := "-"
		if !i.CreatedAt.IsZero() {
			made = i.CreatedAt.UTC().Format("2006-01-02")
		}
		t.Add(i.Image.Image, cli.Dash(i.Description), cli.Dash(i.SSHUser), made)
	}
	return t.Show(c)
}

// number formats a figure that may be unknown.
func number(n float64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%g", n)
}
