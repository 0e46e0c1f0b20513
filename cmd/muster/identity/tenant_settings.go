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

// fillVariable begins the names of environment variables with values for places of a file of settings.
const fillVariable = "MUSTER_FILL_"

func tenantExportCommand(c *cli.Context) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "export", Short: "Write all settings of the tenant into one file, without any secret", Args: cli.AtMost(0),
		Long: "Write all settings of the tenant into one YAML file: people, groups, quotas, policies, hooks, pools, the own catalog and more. Where a\n" +
			"secret belongs, its place is written: ${secret:NAME}. Clusters and history are no settings. The same settings give the same file.",
		Example: "  muster tenant export -o research.yaml\n  muster tenant export --tenant research | git diff --no-index research.yaml -",
	}
	cmd.Flags().StringVarP(&to, "output-file", "o", "", "write to this `file`, in place of one that is there, instead of stdout")
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
		return c.Say(map[string]string{"tenant": f.Tenant, "file": to, "as_of": f.AsOf}, "The settings of tenant %s are in %s.", f.Tenant, to)
	})
}

func tenantImportCommand(c *cli.Context) *cobra.Command {
	var (
		in   settings.TenantImport
		dry  bool
		fill string
	)
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Bring settings into the tenant from a file: all of it, or, where something is wrong, nothing", Args: cli.Exactly("FILE"),
		Long: "Bring settings into the tenant from a file that muster tenant export wrote, or - for stdin. All of it happens at once, or, where something\n" +
			"is wrong, nothing, and all that is wrong is told with its place. What the file does not hold stays, unless --prune is said.\n\n" +
			"Values for places of secrets that the tenant has nothing for yet come from the file of --fill, with lines NAME=value, or from\n" +
			"environment variables MUSTER_FILL_NAME. What the tenant has already stays as it is.\n\n" +
			"With --dry-run nothing is changed; the exit code is 1 where something is wrong. The last line tells the --as-of with which just what\n" +
			"was shown is imported, or nothing.",
		Example: "  muster tenant import research.yaml --dry-run\n  muster tenant import research.yaml --fill research.secrets --tenant blue",
	}
	flags := cmd.Flags()
	flags.BoolVar(&dry, "dry-run", false, "only say what would change")
	flags.BoolVar(&in.Prune, "prune", false, "also remove what the file does not hold, in the parts that it speaks of")
	flags.StringVar(&fill, "fill", "", "`file` with values for places of secrets, a line NAME=value for each")
	flags.StringVar(&in.AsOf, "as-of", "", "what a dry run `said`: import only where nothing has changed since")
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

// fillings returns the values for places of a file: those of a file, which has to be there, and of the environment, as far as the places name them.
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
			return nil, cli.Usagef("%s:%d: that is no NAME=value", name, n).Hint("Each line names a place and gives its value, as in REGISTRY_TOKEN=abc. Lines that begin with # are left out.")
		}
		if _, twice := all[key]; twice && os.Getenv(fillVariable+key) == "" {
			return nil, cli.Usagef("%s:%d: %s is given twice", name, n, key)
		}
		all[key] = value
	}
	if err := lines.Err(); err != nil {
		return nil, cli.Usagef("%s: %v", name, err)
	}
	return all, nil
}

// sayTenantReport fails, without more words, where something is wrong.
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

// tenantVerdict says in a line what was done, or would be.
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
		return "Nothing was imported: something is wrong with the file."
	case len(r.Changes) == 0:
		return fmt.Sprintf("Unchanged: everything in the file is set already (%s).", humanize.Count(r.Same, "setting"))
	case dry:
		return fmt.Sprintf("Nothing was changed: %s, %d unchanged. To import just this: --as-of %s", what, r.Same, r.AsOf)
	}
	return fmt.Sprintf("Imported: %s, %d unchanged.", what, r.Same)
}
