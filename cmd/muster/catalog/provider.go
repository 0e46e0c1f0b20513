package catalog

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"muster/app/catalog"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/template"
	"muster/cmd/muster/cli"
)

// ProviderCommand is what admins ask accounts of providers.
func ProviderCommand(c *cli.Context) *cobra.Command {
	return cli.Family("provider", "Look at accounts with clouds: whether they would do, and what they offer",
		providerListCommand(c), providerTypesCommand(c), providerCheckCommand(c), providerOffersCommand(c), providerTestCommand(c))
}

func providerListCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the providers of the catalog", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			var out struct {
				Items []catalog.CatalogItem `json:"items"`
			}
			if err := cl.Call(cmd.Context(), http.MethodGet, "/catalog", url.Values{"kind": {template.KindProvider}}, nil, &out); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"providers": out.Items})
			}
			t := cli.NewTable("NAME", "LABEL", "WHOSE", "DESCRIPTION")
			for _, i := range out.Items {
				whose := "the installation's"
				if i.Own {
					whose = "our own"
				}
				t.Add(i.Name, cli.Dash(i.Label), whose, cli.Dash(i.Description))
			}
			return t.Show(c)
		}}
}

func providerCheckCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{Use: "check NAME", Short: "Look whether a provider's account would do: credentials, permissions, quota, flavors, images", Args: cli.Exactly("the name of a provider"),
		Long: "Look whether a provider's account would do. The server asks the cloud; nothing is made or changed there. Every flavor and image that the\n" +
			"catalog names for the provider is looked for.\n\nIt ends with 1 where something is wrong.",
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
			word, colour = "look", cli.ColourChanges
		default:
			word, colour = "WRONG", cli.ColourGoes
		}
		about := strings.TrimSpace(f.About + " " + f.Subject)
		cli.Line(c.Stdout, "%s %s: %s", paint(colour, fmt.Sprintf("%-5s", word)), about, f.Message)
		if f.Hint != "" && !f.OK {
			cli.Line(c.Stdout, "      %s", f.Hint)
		}
	}
	end := "All is well: machines can be made here."
	if !found.OK {
		end = "Machines may not be made here until that is mended."
	}
	_, err := fmt.Fprintf(c.Stdout, "\n%s (%s): %s\n", found.Provider, found.Type, end)
	return err
}

func providerOffersCommand(c *cli.Context) *cobra.Command {
	var flavors, images bool
	cmd := &cobra.Command{Use: "offers NAME", Short: "Tell which zones, flavors and images a provider has", Args: cli.Exactly("the name of a provider"),
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
	cmd.Flags().BoolVar(&flavors, "flavors", false, "only the flavors")
	cmd.Flags().BoolVar(&images, "images", false, "only the images")
	return cmd
}

func printFlavors(c *cli.Context, o family.Offers) error {
	price := "PER HOUR>"
	if o.Currency != "" {
		price = o.Currency + "/H>"
	}
	t := cli.NewTable("FLAVOR", "CPU>", "MEMORY GB>", "DISK GB>", price, "ZONES")
	for _, f := range o.Flavors {
		cost := "-"
		if f.CostPerHour > 0 {
			cost = fmt.Sprintf("%.4f", f.CostPerHour)
		}
		t.Add(f.Flavor.Flavor, number(f.CPU), number(f.MemoryGB), number(f.DiskGB), cost, cli.Dash(strings.Join(f.Zones, ", ")))
	}
	return t.Show(c)
}

func printImages(c *cli.Context, o family.Offers) error {
	t := cli.NewTable("IMAGE", "WHAT", "USER", "FROM")
	for _, i := range o.Images {
		made := "-"
		if !i.MadeAt.IsZero() {
			made = i.MadeAt.UTC().Format("2006-01-02")
		}
		t.Add(i.Image.Image, cli.Dash(i.Description), cli.Dash(i.SSHUser), made)
	}
	return t.Show(c)
}

// number writes a figure that may not be known.
func number(n float64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%g", n)
}
