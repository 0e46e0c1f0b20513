package providervalue

import (
	"context"
	"fmt"
	"io"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/providervalue"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags are settings of the provider. Those that are secret come from a file or stdin: every process on the host can read the command line.
type Flags struct{ plain, files []string }

// Declare adds the flags.
func (f *Flags) Declare(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.plain, "set-provider", nil, "setting of the provider as `name=value`; may be repeated; not for secrets")
	flags.StringArrayVar(&f.files, "set-provider-file", nil, "setting of the provider as `name=file`, such as a credential; - for stdin; may be repeated")
}

// Read returns the values, with those of files.
func (f *Flags) Read(c *cli.Context) (providervalue.Values, error) {
	var values providervalue.Values
	set := func(flag, text string) (name, value string, err error) {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return "", "", cli.Usagef("%s needs name=value", flag).Hint("Example: --set-provider zone=a, or --set-provider-file token=token.txt.")
		}
		if _, twice := values[name]; twice {
			return "", "", cli.Usagef("%s is set twice", name)
		}
		if values == nil {
			values = providervalue.Values{}
		}
		return name, value, nil
	}
	for _, text := range f.plain {
		name, value, err := set("--set-provider", text)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	stdin := false
	for _, text := range f.files {
		name, file, err := set("--set-provider-file", text)
		if err != nil {
			return nil, err
		}
		if file == "-" && stdin {
			return nil, cli.Usagef("only one value can come from stdin")
		}
		stdin = stdin || file == "-"
		if values[name], err = valueFrom(c, file); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// OnCommandLine reports whether any value is on the command line.
func (f *Flags) OnCommandLine() bool { return len(f.plain) > 0 }

// RefuseSecrets refuses sensitive values from the command line.
func (f *Flags) RefuseSecrets(known []providervalue.Field) error {
	for _, text := range f.plain {
		name, _, _ := strings.Cut(text, "=")
		for _, k := range known {
			if k.Name == name && k.Sensitive {
				return cli.Usagef("%s is sensitive, and other processes can read the command line", name).
					Hint("Use --set-provider-file %s=FILE, or %[1]s=- for stdin.", name)
			}
		}
	}
	return nil
}

// valueFrom reads a value, without the line break at its end.
func valueFrom(c *cli.Context, file string) (string, error) {
	const most = providervalue.MostBytes + 2
	var b []byte
	var err error
	if file == "-" {
		b, err = io.ReadAll(io.LimitReader(c.Stdin, most))
	} else {
		b, err = cli.ReadLimited(file, most)
	}
	if err != nil {
		return "", cli.Usagef("--set-provider-file: %v", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), nil
}

// Find returns a client and the cluster of an id or a name.
type Find func(ctx context.Context, c *cli.Context, word string, deleted bool) (*cli.Client, cluster.View, error)

// Command shows and replaces the values of clusters.
func Command(c *cli.Context, find Find) *cobra.Command {
	show := &cobra.Command{
		Use:   "show ID|NAME",
		Short: "Show a cluster's own settings of its provider",
		Long:  "Show what a cluster has set for its provider. Sensitive values are never shown.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := find(cmd.Context(), c, args[0], true)
			if err != nil {
				return err
			}
			values, err := cl.ProviderValues.Get(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			return printValues(c, values)
		},
	}
	var f Flags
	var remove []string
	set := &cobra.Command{
		Use:   "set ID|NAME",
		Short: "Replace a cluster's own settings of its provider, such as expired credentials",
		Long: "Replace settings of the provider for a cluster. Settings that you don't name stay. New credentials must open the account in\n" +
			"which the cluster's machines are: Muster checks it before it saves them. Then resume what has failed: muster cluster resume.",
		Example: "  muster cluster provider-values set shop --set-provider-file secret_access_key=key.txt",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, err := f.Read(c)
			if err != nil {
				return err
			}
			for _, name := range remove {
				if values == nil {
					values = providervalue.Values{}
				}
				values[name] = ""
			}
			if len(values) == 0 {
				return cli.Usagef("nothing to set").Hint("Use --set-provider, --set-provider-file or --remove.")
			}
			cl, v, err := find(cmd.Context(), c, args[0], true)
			if err != nil {
				return err
			}
			known, err := cl.ProviderValues.Get(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			if err := f.RefuseSecrets(fieldsOf(known)); err != nil {
				return err
			}
			after, err := cl.ProviderValues.Set(cmd.Context(), v.ID, values)
			if err != nil {
				return err
			}
			if !c.JSON() {
				fmt.Fprintf(c.Stdout, "Saved %s for %s.\n", strings.Join(values.Names(), ", "), v.Name)
				if v.Status == app.ClusterFailed {
					fmt.Fprintf(c.Stdout, "Continue the failed operation:  muster cluster resume %s\n", v.ID)
				}
				return nil
			}
			return c.PrintJSON(after)
		},
	}
	f.Declare(set.Flags())
	set.Flags().StringSliceVar(&remove, "remove", nil, "`names` of settings to remove, separated by commas")
	return cli.Family("provider-values", "Show or replace a cluster's own settings of its provider", show, set)
}

func fieldsOf(v providervalue.View) (fields []providervalue.Field) {
	for _, value := range v.Values {
		fields = append(fields, value.Field)
	}
	return fields
}

func printValues(c *cli.Context, v providervalue.View) error {
	if c.JSON() {
		return c.PrintJSON(v)
	}
	if v.OwnAccount {
		fmt.Fprintln(c.Stdout, "The machines are in an account of this cluster's own.")
	}
	t := cli.NewTable("SETTING", "VALUE", "LABEL")
	for _, x := range v.Values {
		text := x.Value
		switch {
		case x.Set && x.Sensitive:
			text = providervalue.Hidden
		case !x.Set && x.Default != "":
			text = x.Default + " (default)"
		case !x.Set:
			text = "not set"
		}
		t.Add(x.Name, text, x.Label)
	}
	return t.Show(c)
}
