package catalog

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/file/catalog"
	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/app/program"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/families"
)

func Command(c *cli.Context) *cobra.Command {
	return cli.Family("catalog", "Check catalog files, and manage the tenant catalog", catalogLintCommand(c), catalogShowCommand(c), catalogSchemaCommand(c),
		catalogListCommand(c), catalogGetCommand(c), ApplyCommand(c), DiffCommand(c), catalogExportCommand(c), catalogHistoryCommand(c),
		catalogRevertCommand(c), catalogTryCommand(c))
}

func catalogLintCommand(c *cli.Context) *cobra.Command {
	var (
		f   families.CatalogFlag
		env bool

		shellcheck bool

		plugins families.PluginConfig
		tooling families.AutomatorConfig
	)
	cmd := &cobra.Command{
		Use:   "lint [DIR|FILE...]",
		Short: "Check catalog files for errors",
		Long: "Check catalog files, and list every problem with file, line and column. The exit code is 1 if there are errors; warnings don't\n" +
			"affect it. Scripts are parsed as by sh -n and bash -n, without running them. With several directories, later entries replace\n" +
			"earlier ones. For a single file, the catalog around it is read too, but only that file's problems are listed.",
		Example: "  muster catalog lint examples/catalog\n  muster catalog lint examples/catalog/nginx.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := plugins.Plug(cmd.Context(), slog.New(slog.DiscardHandler), func(left program.Plugin) {
				cli.Line(c.Stderr, "skipping %s: %s", left.Path, app.AsError(left.Err).Advised())
			})
			if err != nil {
				return err
			}
			err = tooling.Plug(cmd.Context(), slog.New(slog.DiscardHandler), func(left program.Plugin) {
				cli.Line(c.Stderr, "skipping %s: %s", left.Path, app.AsError(left.Err).Advised())
			})
			if err != nil {
				return err
			}
			files, err := addFiles(&f, args)
			if err != nil {
				return err
			}
			dirs, err := f.Directories()
			if err != nil {
				return err
			}
			options := families.CatalogOptions(nil)
			if env {
				options.Env = os.LookupEnv
			}
			r := catalog.Lint(options, dirs...)
			if shellcheck {
				if err := shellcheckScripts(cmd.Context(), &r); err != nil {
					return err
				}
			}
			if len(files) > 0 {
				r = r.Of(files...)
			}
			return printReport(c, r)
		},
	}
	f.Declare(cmd)
	plugins.Declare(cmd.Flags())
	tooling.DeclarePlugins(cmd.Flags())
	cmd.Flags().BoolVar(&env, "env", false, "also look up environment variables in settings, as the server does")
	cmd.Flags().BoolVar(&shellcheck, "shellcheck", false, "also report errors found by shellcheck, which must be installed")
	return cmd
}

// kindFolders are the catalog folders with entries of one kind, in Muster's format and in Coopr's.
var kindFolders = []string{"providers", "hardware", "images", "services", "templates", "hardwaretypes", "imagetypes", "clustertemplates", "partialtemplates"}

// addFiles adds directories and files. A file's catalog is the named one that contains it, or else its directory or the parent of its kind's
// folder.
func addFiles(f *families.CatalogFlag, args []string) (files []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil || info.IsDir() {
			f.Dirs = append(f.Dirs, arg)
			continue
		}
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(arg)) {
			return nil, cli.Usagef("%s isn't a catalog file", arg).Hint("Catalog files end in .yaml, .yml or .json.")
		}
		files = append(files, filepath.Clean(arg))
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		if slices.Contains(kindFolders, filepath.Base(dir)) {
			dir = filepath.Dir(dir)
		}
		within := func(named string) bool {
			rel, err := filepath.Rel(named, file)
			return err == nil && filepath.IsLocal(rel)
		}
		if !slices.ContainsFunc(f.Dirs, within) {
			f.Dirs = append(f.Dirs, dir)
		}
	}
	return files, nil
}

// problemJSON is one problem in lint's output; its format is stable.
type problemJSON struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// ReportJSON is lint's output; its format is stable.
type ReportJSON struct {
	Problems []problemJSON  `json:"problems"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	Counts   catalog.Counts `json:"counts"`
}

// printReport prints lint's findings. It fails silently if there are errors.
func printReport(c *cli.Context, r catalog.Report) error {
	errs, warnings := r.Problems.Count(form.SeverityError), r.Problems.Count(form.SeverityWarning)
	if c.JSON() {
		out := ReportJSON{Problems: []problemJSON{}, Errors: errs, Warnings: warnings, Counts: r.Counts}
		for _, p := range r.Problems {
			out.Problems = append(out.Problems, problemJSON{p.Origin.File, p.Origin.Line, p.Column, string(p.Severity), p.Message, p.Hint})
		}
		if err := c.PrintJSON(out); err != nil {
			return err
		}
	} else {
		for _, p := range r.Problems {
			fmt.Fprintln(c.Stdout, p)
		}
		n := r.Counts
		fmt.Fprintf(c.Stdout, "%s, %s, %s, %s, %s: %s, %s\n",
			humanize.Count(n.Providers, "provider"), humanize.Count(n.Hardware, "hardware type"), humanize.Count(n.Images, "image type"),
			humanize.Count(n.Services, "service"), humanize.Count(n.Templates, "template"), humanize.Count(errs, "error"), humanize.Count(warnings, "warning"))
	}
	if !r.OK() {
		return cli.SilentError{}
	}
	return nil
}

func catalogSchemaCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of catalog files, for editors",
		Args:  cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := c.Stdout.Write(form.Schema())
			return err
		},
	}
}
