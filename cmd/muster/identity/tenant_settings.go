package identity

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"muster/app/humanize"
	"muster/app/secret"
	"muster/app/settings"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// fillVariable is the prefix of environment variables with values for a settings file's placeholders.
const fillVariable = "MUSTER_FILL_"

func tenantExportCommand(c *cli.Context) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "export", Short: "Export the tenant's settings, without secrets", Args: cli.AtMost(0),
		Long: "Export all settings of the tenant to one YAML file: users, groups, quotas, policies, webhooks, pools, the tenant catalog and more. Secrets\n" +
			"are replaced by placeholders: ${secret:NAME}. Clusters and history aren't included. The same settings always produce the same file.",
		Example: "  muster tenant export -o research.yaml\n  muster tenant export --tenant research | git diff --no-index research.yaml -",
	}
	cmd.Flags().StringVarP(&to, "output-file", "o", "", "`file` to write, replacing an existing one (default: stdout)")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		f, err := cl.TenantSettings.Export(ctx)
		if err != nil {
			return err
		}
		if c.JSON() && to == "" {
			return c.PrintJSON(f)
		}
		if to == "" || to == "-" {
			_, err = io.WriteString(c.Bytes(), f.File)
			return err
		}
		if err := os.WriteFile(to, []byte(f.File), 0o600); err != nil {
			return cli.Usagef("%v", err)
		}
		return c.Say(map[string]string{"tenant": f.Tenant, "file": to, "as_of": f.AsOf}, "Exported the settings of tenant %s to %s.", f.Tenant, to)
	})
}

func tenantImportCommand(c *cli.Context) *cobra.Command {
	var (
		in   settings.TenantImport
		dry  bool
		fill string
	)
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import tenant settings from a file", Args: cli.Exactly("FILE"),
		Long: "Import settings into the tenant from a file written by muster tenant export, or from stdin for -. Either all settings are imported or,\n" +
			"if there are errors, none, and every error is listed with its position. Settings that aren't in the file are kept, unless --prune is set.\n\n" +
			"Values for placeholders of secrets that the tenant doesn't have yet come from the --fill file, with lines NAME=value, or from the\n" +
			"environment variables MUSTER_FILL_NAME. Existing secrets don't change.\n\n" +
			"With --dry-run, nothing is changed, and the exit code is 1 if there are errors. Pass the --as-of value from its last line to a later\n" +
			"import to apply exactly the changes shown, or none.",
		Example: "  muster tenant import research.yaml --dry-run\n  muster tenant import research.yaml --fill research.secrets --tenant blue",
	}
	flags := cmd.Flags()
	flags.BoolVar(&dry, "dry-run", false, "show the changes without applying them")
	flags.BoolVar(&in.Prune, "prune", false, "also remove settings that aren't in the file, within its sections")
	flags.StringVar(&fill, "fill", "", "`file` with values for secret placeholders, one NAME=value per line")
	flags.StringVar(&in.AsOf, "as-of", "", "`hash` printed by a dry run: import only if nothing has changed since")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, args []string) error {
		text, err := limitedFile(c, args[0], settings.MaxTenantFile)
		if err != nil {
			return err
		}
		in.File = string(text)
		if in.Fill, err = fillings(c, in.File, fill); err != nil {
			return err
		}
		r, err := cl.TenantSettings.Import(ctx, in, !dry)
		if err != nil {
			return err
		}
		return sayTenantReport(c, args[0], r, dry)
	})
}

// limitedFile reads a file, or stdin for -.
func limitedFile(c *cli.Context, name string, most int64) ([]byte, error) {
	from := c.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, cli.Usagef("%v", err)
		}
		defer f.Close()
		from = f
	}
	b, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, cli.Usagef("%s: %v", name, err)
	}
	if int64(len(b)) > most {
		return nil, cli.Usagef("%s is larger than %d MiB", name, most>>20)
	}
	return b, nil
}

// fillings returns the values for placeholders: from a file, which must exist, and the environment.
func fillings(c *cli.Context, text, name string) (map[string]string, error) {
	all := map[string]string{}
	for _, v := range os.Environ() {
		key, value, _ := strings.Cut(v, "=")
		if place, ok := strings.CutPrefix(key, fillVariable); ok && strings.Contains(text, "${secret:"+place+"}") {
			all[place] = value
		}
	}
	if name == "" {
		return all, nil
	}
	const most = 8 << 20
	b, err := limitedFile(c, name, most)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(strings.NewReader(string(b)))
	lines.Buffer(nil, secret.MaxSecret+1000)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if key = strings.TrimSpace(strings.TrimPrefix(key, "export ")); !ok || key == "" {
			return nil, cli.Usagef("%s:%d: the line isn't NAME=value", name, n).Hint("Each line sets one value, such as REGISTRY_TOKEN=abc. Lines that start with # are ignored.")
		}
		if _, twice := all[key]; twice && os.Getenv(fillVariable+key) == "" {
			return nil, cli.Usagef("%s:%d: %s is set twice", name, n, key)
		}
		all[key] = value
	}
	if err := lines.Err(); err != nil {
		return nil, cli.Usagef("%s: %v", name, err)
	}
	return all, nil
}

// sayTenantReport fails silently if there are errors.
func sayTenantReport(c *cli.Context, file string, r settings.TenantReport, dry bool) error {
	if c.JSON() {
		if err := c.PrintJSON(r); err != nil {
			return err
		}
	} else {
		for _, e := range r.Changes {
			fmt.Fprintf(c.Stdout, "%s %s\n", map[string]string{"add": "+", "change": "~", "remove": "-"}[e.Act], strings.TrimSpace(e.Part+" "+e.Name))
			for _, f := range e.Fields {
				fmt.Fprintf(c.Stdout, "    %s: %s -> %s\n", f.Path, cli.Shown(f.Before), cli.Shown(f.After))
			}
			for _, w := range e.Warnings {
				fmt.Fprintf(c.Stdout, "    %s\n", w)
			}
		}
		for _, p := range r.Problems {
			fmt.Fprintln(c.Stdout, tenantProblemLine(file, p))
		}
		fmt.Fprintln(c.Stdout, tenantVerdict(r, dry))
	}
	if !r.OK() {
		return cli.SilentError{}
	}
	return nil
}

func tenantProblemLine(file string, p settings.TenantProblem) string {
	at := file
	if p.Line > 0 {
		at += fmt.Sprintf(":%d", p.Line)
		if p.Column > 0 {
			at += fmt.Sprintf(":%d", p.Column)
		}
	}
	line := at + ": " + p.Severity + ": "
	if p.Path != "" {
		line += p.Path + ": "
	}
	line += p.Message
	if p.Hint != "" {
		line += " " + p.Hint
	}
	return line
}

// tenantVerdict is a one-line summary.
func tenantVerdict(r settings.TenantReport, dry bool) string {
	by := map[string]int{}
	for _, e := range r.Changes {
		by[e.Act]++
	}
	var parts []string
	for _, act := range slices.Sorted(maps.Keys(by)) {
		words := map[string]string{"add": "added", "change": "changed", "remove": "removed"}[act]
		if dry {
			words = "to " + act
		}
		parts = append(parts, fmt.Sprintf("%d %s", by[act], words))
	}
	what := strings.Join(parts, ", ")
	switch {
	case !r.OK():
		return "Nothing was imported: the file has errors."
	case len(r.Changes) == 0:
		return fmt.Sprintf("No changes: everything in the file is already set (%s).", humanize.Count(r.Unchanged, "setting"))
	case dry:
		return fmt.Sprintf("Dry run: %s, %d unchanged. To import exactly these changes: --as-of %s", what, r.Unchanged, r.AsOf)
	}
	return fmt.Sprintf("Imported: %s, %d unchanged.", what, r.Unchanged)
}
