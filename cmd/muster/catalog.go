package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/catalog"
	"muster/automators"
	"muster/providers"
)

func catalogCommand(c *cli) *cobra.Command {
	return family("catalog", "Check catalog files, and look after the tenant's own entries", catalogLintCommand(c), catalogShowCommand(c), catalogSchemaCommand(c),
		catalogListCommand(c), catalogGetCommand(c), catalogApplyCommand(c), catalogDiffCommand(c), catalogExportCommand(c), catalogHistoryCommand(c),
		catalogRevertCommand(c), catalogTryCommand(c))
}

func catalogLintCommand(c *cli) *cobra.Command {
	var (
		f   catalogFlag
		env bool

		shellcheck bool

		plugins pluginConfig
		tooling automatorConfig
	)
	cmd := &cobra.Command{
		Use:   "lint [DIR...]",
		Short: "Say all that is wrong with a catalog, by file, line and column",
		Long: "Say all that is wrong with a catalog, by file, line and column. The exit code is 1 when there are errors;\n" +
			"warnings are only said. Scripts are read as sh -n and bash -n would, without running them. Of several directories, entries of the later replace those of the earlier.",
		Example: "  muster catalog lint examples/catalog",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := plugins.plug(cmd.Context(), slog.New(slog.DiscardHandler), func(left providers.Plugin) {
				line(c.stderr, "%s is left out: %s", left.Path, app.AsError(left.Err).Advised())
			})
			if err != nil {
				return err
			}
			err = tooling.plug(cmd.Context(), slog.New(slog.DiscardHandler), func(left automators.Plugin) {
				line(c.stderr, "%s is left out: %s", left.Path, app.AsError(left.Err).Advised())
			})
			if err != nil {
				return err
			}
			f.dirs = append(f.dirs, args...)
			dirs, err := f.directories()
			if err != nil {
				return err
			}
			options := catalogOptions(nil)
			if env {
				options.Env = os.LookupEnv
			}
			r := catalog.Lint(options, dirs...)
			if shellcheck {
				if err := shellcheckScripts(cmd.Context(), &r); err != nil {
					return err
				}
			}
			return c.printReport(r)
		},
	}
	f.declare(cmd)
	plugins.declare(cmd.Flags())
	tooling.declarePlugins(cmd.Flags())
	cmd.Flags().BoolVar(&env, "env", false, "also look up the environment variables that settings name, as the server will")
	cmd.Flags().BoolVar(&shellcheck, "shellcheck", false, "also report what shellcheck calls an error in scripts; it must be installed")
	return cmd
}

// problemJSON is one problem in the answer of lint; it keeps its form.
type problemJSON struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// reportJSON is the answer of lint; it keeps its form.
type reportJSON struct {
	Problems []problemJSON  `json:"problems"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	Counts   catalog.Counts `json:"counts"`
}

// printReport says what lint found. It fails, without more words, when there are errors.
func (c *cli) printReport(r catalog.Report) error {
	errs, warnings := r.Problems.Count(catalog.SeverityError), r.Problems.Count(catalog.SeverityWarning)
	if c.json() {
		out := reportJSON{Problems: []problemJSON{}, Errors: errs, Warnings: warnings, Counts: r.Counts}
		for _, p := range r.Problems {
			out.Problems = append(out.Problems, problemJSON{p.Origin.File, p.Origin.Line, p.Column, string(p.Severity), p.Message, p.Hint})
		}
		if err := c.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, p := range r.Problems {
			fmt.Fprintln(c.stdout, p)
		}
		n := r.Counts
		fmt.Fprintf(c.stdout, "%s, %s, %s, %s, %s: %s, %s\n",
			plural(n.Providers, "provider"), plural(n.Hardware, "hardware type"), plural(n.Images, "image type"),
			plural(n.Services, "service"), plural(n.Templates, "template"), plural(errs, "error"), plural(warnings, "warning"))
	}
	if !r.OK() {
		return silentError{}
	}
	return nil
}

func catalogSchemaCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of catalog files, for editors",
		Args:  atMost(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := c.stdout.Write(catalog.Schema())
			return err
		},
	}
}
