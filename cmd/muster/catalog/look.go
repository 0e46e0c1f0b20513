package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

func catalogListCommand(c *cli.Context) *cobra.Command {
	var kind string
	cmd := &cobra.Command{Use: "list [WORDS]", Aliases: []string{"ls"}, Short: "List the entries of the shared and tenant catalogs"}
	cmd.Flags().StringVar(&kind, "kind", "", "filter by `kind`: "+strings.Join(template.CatalogKinds, ", "))
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		items, err := cl.Catalog.List(ctx, kind, strings.Join(args, " "))
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string]any{"items": items})
		}
		t := cli.NewTable("KIND", "NAME", "LABEL", "TENANT'S", "VERSION>", "BY", "CLUSTERS>")
		for _, i := range items {
			own, version := "", ""
			if i.Own {
				own, version = "yes", strconv.Itoa(i.Number)
				if i.Replaces {
					own = "override"
				}
			}
			t.Add(i.Kind, i.Name, i.Label, own, version, i.By, strconv.Itoa(i.Clusters))
		}
		return t.Show(c)
	})
}

// keyOf reads KIND NAME, or KIND/NAME.
func keyOf(args []string) (template.CatalogKey, error) {
	if len(args) == 1 {
		args = strings.SplitN(args[0], "/", 2)
	}
	if len(args) != 2 {
		return template.CatalogKey{}, cli.Usagef("KIND NAME is required, such as template web")
	}
	return template.CatalogKey{Kind: args[0], Name: args[1]}, nil
}

func catalogGetCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "get KIND NAME", Short: "Print a catalog entry as YAML", Example: "  muster catalog get template web > web.yaml",
		Args: cobra.RangeArgs(1, 2)}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		k, err := keyOf(args)
		if err != nil {
			return err
		}
		s, err := cl.Catalog.Get(ctx, k)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(s)
		}
		_, err = fmt.Fprint(c.Bytes(), s.Text)
		return err
	})
}

func catalogHistoryCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "history KIND NAME", Short: "List the versions of a tenant catalog entry, newest first", Args: cobra.RangeArgs(1, 2)}
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		k, err := keyOf(args)
		if err != nil {
			return err
		}
		list, err := cl.Catalog.History(ctx, k)
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(map[string]any{"versions": list})
		}
		t := cli.NewTable("VERSION>", "TIME", "BY", "CHANGE", "NOTE")
		for _, r := range list {
			what := "saved"
			if r.Deleted {
				what = "removed"
			}
			t.Add(strconv.Itoa(r.Number), r.At.Local().Format("2006-01-02 15:04:05"), r.By, what, cli.FirstLine(r.Note))
		}
		return t.Show(c)
	})
}

func catalogRevertCommand(c *cli.Context) *cobra.Command {
	var note string
	var to int
	cmd := &cobra.Command{Use: "revert KIND NAME --to VERSION", Short: "Restore an older version of a tenant catalog entry", Args: cobra.RangeArgs(1, 2)}
	cmd.Flags().IntVar(&to, "to", -1, "`version` to restore; 0 removes the tenant's entry")
	cmd.Flags().Lookup("to").DefValue = "0" // hides the default, which only says that it is missing
	cmd.Flags().StringVar(&note, "note", "", "`note` for the history")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		k, err := keyOf(args)
		if err != nil {
			return err
		}
		if to < 0 {
			return cli.Usagef("--to is required").Hint("List the versions: muster catalog history %s", k)
		}
		r, err := cl.Catalog.Revert(ctx, k, to, note)
		if err != nil {
			return err
		}
		return sayReport(c, r)
	})
}

func catalogTryCommand(c *cli.Context) *cobra.Command {
	var (
		f catalogFiles
		l cluster.LayoutFlags
	)
	cmd := &cobra.Command{Use: "try -f FILE --template NAME --size N", Short: "Preview a cluster from unsaved catalog files", Args: cli.AtMost(0),
		Example: "  muster catalog try -f web.yaml --template web --size 5"}
	f.declare(cmd)
	l.Declare(cmd.Flags())
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		change, err := f.read(c)
		if err != nil {
			return err
		}
		p, err := cl.Catalog.Try(ctx, change, appcluster.CreateRequest{Request: l.Request})
		if err != nil {
			return err
		}
		if c.JSON() {
			return c.PrintJSON(p)
		}
		for _, g := range p.Layout.Groups {
			fmt.Fprintf(c.Stdout, "%s of %s with %s: %s\n", humanize.Count(g.Count, "node"), g.Hardware, g.Image, strings.Join(g.Services, ", "))
		}
		fmt.Fprintf(c.Stdout, "%s, %s, about %s, %s per hour.\n", humanize.Count(p.Layout.Size(), "node"), humanize.Count(len(p.Plan.Steps), "step"), humanize.Rough(p.Duration), p.Layout.Price())
		return nil
	})
}

func catalogExportCommand(c *cli.Context) *cobra.Command {
	var all bool
	cmd := &cobra.Command{Use: "export [DIR]", Short: "Export the tenant catalog to KIND/NAME.yaml files, or to stdout", Args: cli.AtMost(1),
		Example: "  muster catalog export catalog/"}
	cmd.Flags().BoolVar(&all, "all", false, "include the shared catalog")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		files, err := cl.Catalog.Export(ctx, all)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			if c.JSON() {
				return c.PrintJSON(map[string]any{"files": files})
			}
			for i, f := range files {
				if i > 0 {
					fmt.Fprintln(c.Bytes(), "---")
				}
				fmt.Fprint(c.Bytes(), f.Text)
			}
			return nil
		}
		for _, f := range files {
			if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
				return app.Errorf(app.EInternal, "the server sent an invalid file name %q", f.Name)
			}
			name := filepath.Join(args[0], filepath.FromSlash(f.Name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return cli.Usagef("%v", err)
			}
			if err := os.WriteFile(name, []byte(f.Text), 0o644); err != nil {
				return cli.Usagef("%v", err)
			}
		}
		return c.Say(map[string]int{"files": len(files)}, "Wrote %s to %s.", humanize.Count(len(files), "file"), args[0])
	})
}
