package identity

import (
	"fmt"
	"io"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/secret"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// SecretCommand keeps named values of a tenant. Values come from a file or standard input, never from the command line, which
// every process of the host can read.
func SecretCommand(c *cli.Context) *cobra.Command {
	var file string
	set := &cobra.Command{
		Use:   "set NAME",
		Short: "Set a secret; its value is read from --file or standard input",
		Long: "Set a secret, or replace it. The value is read from --file, or from standard input until its end; a line end at the end\n" +
			"of it is left out. Catalogs refer to it as ${secret:NAME}. Nobody can read it back.",
		Example: "  muster secret set REGISTRY_TOKEN --file token.txt",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := secretValue(c, file)
			if err != nil {
				return err
			}
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			if err := cl.Secrets.Set(cmd.Context(), args[0], value); err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]string{"name": args[0]})
			}
			_, err = fmt.Fprintf(c.Stdout, "%s is set.\n", args[0])
			return err
		},
	}
	set.Flags().StringVar(&file, "file", "", "`file` that holds the value")
	list := &cobra.Command{
		Use: "list", Short: "List the names of the tenant's secrets", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			all, err := cl.Secrets.List(cmd.Context())
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string][]app.Secret{"secrets": all})
			}
			t := cli.NewTable("NAME", "SET BY", "SET>", "LAST USED>")
			for _, s := range all {
				used := "never"
				if s.UsedAt != nil {
					used = humanize.Duration(time.Since(*s.UsedAt)) + " ago"
				}
				t.Add(s.Name, s.SetBy, humanize.Duration(time.Since(s.SetAt))+" ago", used)
			}
			return t.Show(c)
		},
	}
	remove := &cobra.Command{
		Use: "delete NAME", Short: "Delete a secret; steps that need it fail from then on", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.Connect()
			if err != nil {
				return err
			}
			return cl.Secrets.Delete(cmd.Context(), args[0])
		},
	}
	for _, sub := range []*cobra.Command{set, list, remove} {
		c.ServerFlags(sub.Flags())
	}
	return cli.Family("secret", "Keep values that catalogs refer to, and nobody reads back", set, list, remove)
}

func secretValue(c *cli.Context, file string) ([]byte, error) {
	const most = secret.MaxSecret + 2
	var b []byte
	var err error
	if file != "" {
		b, err = cli.ReadLimited(file, most)
	} else {
		if cli.IsTerminal(c.Stdin) {
			fmt.Fprintln(c.Stderr, "Type the value, and end with Ctrl-D on a line of its own. It is shown as you type; --file does not show it.")
		}
		b, err = io.ReadAll(io.LimitReader(c.Stdin, most))
	}
	if err != nil {
		return nil, &app.Error{Code: app.EInvalid, Field: "file", Message: "the value cannot be read: " + err.Error()}
	}
	return []byte(strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")), nil
}
