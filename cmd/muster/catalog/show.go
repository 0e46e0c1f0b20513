package catalog

import (
	"maps"
	"slices"

	"muster/app"
	appcatalog "muster/app/catalog"
	"muster/app/file/catalog"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"

	"github.com/spf13/cobra"
)

func catalogShowCommand(c *cli.Context) *cobra.Command {
	var f families.CatalogFlag
	cmd := &cobra.Command{
		Use:   "show TEMPLATE [DIR...]",
		Short: "Show a resolved template from catalog files",
		Long: "Show a template from catalog files, with everything it extends and includes, and where each part is defined. No server is needed, so\n" +
			"you can check a template before you publish it.",
		Example: "  muster catalog show web examples/catalog",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f.Dirs = append(f.Dirs, args[1:]...)
			dirs, err := f.Directories()
			if err != nil {
				return err
			}
			// Problems elsewhere don't matter here.
			r := catalog.Lint(catalog.Options{}, dirs...)
			t := r.Catalog.Templates[args[0]]
			if w := r.Catalog.Written[args[0]]; t == nil && w != nil {
				if !w.Partial {
					return &app.Error{Code: app.EInvalid, Field: "template", Message: "Template " + args[0] + " can't be resolved.",
						Hint: "List its problems: muster catalog lint"}
				}
				t = w
			}
			if t == nil {
				e := app.Errorf(app.ENotFound, "Template %q doesn't exist.", args[0])
				if near := humanize.Nearest(args[0], slices.Collect(maps.Keys(r.Catalog.Written))); near != "" {
					e.Hint = "Did you mean " + near + "?"
				}
				return e
			}
			v := appcatalog.TemplateView{Template: *t, Warnings: t.Warnings(), Parts: t.Parts()}
			if c.JSON() {
				return c.PrintJSON(v)
			}
			return printTemplate(c.Stdout, v)
		},
	}
	f.Declare(cmd)
	return cmd
}
