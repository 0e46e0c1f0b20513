package output

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"muster/app"
	"muster/app/output"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

// Commands are the commands of outputs, below clusters.
func Commands(c *cli.Context) []*cobra.Command {
	return []*cobra.Command{outputsCommand(c), envCommand(c), kubeconfigCommand(c), configSSHCommand(c)}
}

func outputsCommand(c *cli.Context) *cobra.Command {
	var reveal bool
	var to string
	cmd := &cobra.Command{
		Use:   "outputs ID|NAME [OUTPUT]",
		Short: "Show the outputs of a cluster: addresses, connection strings, files",
		Long: "Show the outputs of a cluster, which its template declares. Secret ones are shown with --reveal only, to people who\n" +
			"can use the cluster, and the audit log says to whom. Of a single output, the value alone is written to stdout,\n" +
			"as it is.",
		Example: "  muster cluster outputs shop\n  muster cluster outputs shop db_url --reveal\n" +
			"  muster cluster outputs shop ca_cert --output ca.crt",
		Args: oneOrTwo,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && to != "" {
				return cli.Usagef("--output writes a single output").
					Hint("For example: muster cluster outputs %s NAME --output FILE", args[0])
			}
			list, err := fetch(cmd.Context(), c, args, reveal)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return printAll(c, list, reveal)
			}
			o, err := pick(list, args[1])
			if err != nil {
				return err
			}
			return printOne(c, list, o, to)
		},
	}
	cmd.Flags().BoolVar(&reveal, "reveal", false, "show secret values; the audit log says so")
	cmd.Flags().StringVarP(&to, "output", "O", "", "`file` to write the value to, with the output's permissions")
	return cmd
}

// fetch asks for the outputs of a cluster, or for a named one, with or without secret values.
func fetch(ctx context.Context, c *cli.Context, args []string, reveal bool) (output.List, error) {
	cl, v, err := cluster.ConnectTo(ctx, c, args[0], false)
	if err != nil {
		return output.List{}, err
	}
	if reveal {
		return cl.Outputs.Reveal(ctx, v.ID, args[1:]...)
	}
	return cl.Outputs.List(ctx, v.ID)
}

func oneOrTwo(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("ID|NAME is required").Hint("Usage: %s", cmd.UseLine())
	}
	if len(args) > 2 {
		return cli.Usagef("unexpected argument %q", args[2]).Hint("Usage: %s", cmd.UseLine())
	}
	return nil
}

// pick returns the named output.
func pick(list output.List, name string) (output.Output, error) {
	i := slices.IndexFunc(list.Outputs, func(o output.Output) bool { return o.Name == name })
	if i < 0 {
		return output.Output{}, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("cluster %s has no output %q", list.Name, name),
			Hint: "List its outputs: muster cluster outputs " + list.Name}
	}
	return list.Outputs[i], nil
}

func printAll(c *cli.Context, list output.List, reveal bool) error {
	if c.JSON() {
		return c.PrintJSON(list)
	}
	if len(list.Outputs) == 0 {
		cli.Line(c.Stdout, "Cluster %s has no outputs.", list.Name)
		return nil
	}
	t := cli.NewTable("NAME", "TYPE", "VALUE", "DESCRIPTION")
	for _, o := range list.Outputs {
		value := cli.Shown(o.Value)
		switch {
		case o.Missing != "":
			value = "(none yet: " + o.Missing + ")"
		case o.Type == template.OutputFile:
			value = "(file " + o.File + ")"
		case o.Secret && o.Value == "":
			value = "(secret)"
		case reveal:
			value = o.Value
		}
		t.Add(o.Name, string(o.Type), value, cli.Dash(o.Description))
	}
	return t.Write(c.Stdout)
}

// printOne writes a value as it is, to a file or to stdout.
func printOne(c *cli.Context, list output.List, o output.Output, to string) error {
	if o.Missing != "" {
		return &app.Error{Code: app.EConflict, Message: fmt.Sprintf("output %s of cluster %s has no value yet: %s", o.Name, list.Name, o.Missing),
			Hint: "See: muster cluster show " + list.Name}
	}
	if o.Secret && o.Value == "" {
		hint := "Only people who can use the cluster can see it."
		if list.MayReveal {
			hint = fmt.Sprintf("Show it: muster cluster outputs %s %s --reveal", list.Name, o.Name)
		}
		return &app.Error{Code: app.EForbidden, Message: fmt.Sprintf("output %s of cluster %s is secret", o.Name, list.Name), Hint: hint}
	}
	if to != "" && to != "-" {
		mode, err := strconv.ParseUint(o.Mode, 8, 9)
		if err != nil {
			mode = 0o600
		}
		if err := cli.WritePrivate(to, []byte(o.Value)); err != nil {
			return err
		}
		return os.Chmod(to, os.FileMode(mode))
	}
	if c.JSON() {
		return c.PrintJSON(o)
	}
	end := "\n"
	if o.Type == template.OutputFile {
		end = ""
	}
	_, err := io.WriteString(c.Bytes(), o.Value+end)
	return err
}
