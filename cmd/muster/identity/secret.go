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

// SecretCommand manages a tenant's secrets. Values come from a file or stdin, never from the command line, which every process on the
// host can read.
func SecretCommand(c *cli.Context) *cobra.Command {
	var file string
	set := &cobra.Command{
		Use:   "set NAME",
		Short: "Create or replace a secret",
		Long: "Create or replace a secret. The value is read from --file or stdin; a final line break is dropped. Catalogs refer to it as\n" +
			"${secret:NAME}. A secret's value can't be read back.",
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
			_, err = fmt.Fprintf(c.Stdout, "Saved secret %s.\n", args[0])
			return err
		},
	}
	set.Flags().StringVar(&file, "file", "", "`file` with the value (default: stdin)")
	list := &cobra.Command{
		Use: "list", Short: "List secrets, without their values", Args: cli.AtMost(0),
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
					used = humanize.Ago(time.Now(), *s.UsedAt)
				}
				t.Add(s.Name, s.SetBy, humanize.Duration(time.Since(s.SetAt))+" ago", used)
			}
			return t.Show(c)
		},
	}
	remove := &cobra.Command{
		Use: "delete NAME", Short: "Delete a secret; steps that need it will fail", Args: cobra.ExactArgs(1),
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
	return cli.Family("secret", "Manage secrets used in catalogs", set, list, remove)
}

func secretValue(c *cli.Context, file string) ([]byte, error) {
	const most = secret.MaxSecret + 2
	var b []byte
	var err error
	if file != "" {
		b, err = cli.ReadLimited(file, most)
	} else {
		if cli.IsTerminal(c.Stdin) {
			fmt.Fprintln(c.Stderr, "Type the value, then press Enter and Ctrl-D. Your input is visible; use --file to avoid that.")
		}
		b, err = io.ReadAll(io.LimitReader(c.Stdin, most))
	}
	if err != nil {
		return nil, &app.Error{Code: app.EInvalid, Field: "file", Message: "can't read the value: " + err.Error()}
	}
	return []byte(strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")), nil
}
