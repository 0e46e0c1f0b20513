package catalog

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"muster/app/catalog"
	"muster/app/humanize"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// catalogFiles are the flags of commands that send files to the tenant catalog.
type catalogFiles struct {
	files  []string
	change catalog.Change
}

func (f *catalogFiles) declare(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.files, "file", "f", nil, "`file` or directory with entries, or - for stdin; may be repeated")
	cmd.Flags().BoolVar(&f.change.Prune, "prune", false, "also remove the tenant's entries that aren't in the files")
}

// read reads the files. In directories it picks the same ones as `muster catalog lint`.
func (f *catalogFiles) read(c *cli.Context) (catalog.Change, error) {
	if len(f.files) == 0 {
		return f.change, cli.Usagef("--file is required").Hint("Name a file or directory with -f, or - for stdin.")
	}
	size := int64(0)
	add := func(name string, r io.Reader) error {
		b, err := io.ReadAll(io.LimitReader(r, catalog.MaxCatalogChange+1))
		if err != nil {
			return cli.Usagef("%s: %v", name, err)
		}
		if size += int64(len(b)); size > catalog.MaxCatalogChange {
			return cli.Usagef("the files are larger than %d MiB in total", catalog.MaxCatalogChange>>20)
		}
		f.change.Files = append(f.change.Files, catalog.File{Name: filepath.ToSlash(name), Text: string(b)})
		return nil
	}
	open := func(name string) error {
		r, err := os.Open(name)
		if err != nil {
			return cli.Usagef("%v", err)
		}
		defer r.Close()
		return add(name, r)
	}
	for _, name := range f.files {
		if name == "-" {
			if err := add("stdin.yaml", c.Stdin); err != nil {
				return f.change, err
			}
			continue
		}
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return cli.Usagef("%v", err)
			case d.IsDir() && path != name && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.IsDir(), path != name && (strings.HasPrefix(d.Name(), ".") || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path)))):
				return nil
			}
			return open(path)
		})
		if err != nil {
			return f.change, err
		}
	}
	return f.change, nil
}

func ApplyCommand(c *cli.Context) *cobra.Command {
	var (
		f   catalogFiles
		dry bool
	)
	cmd := &cobra.Command{Use: "apply -f FILE", Short: "Save files to the tenant catalog", Args: cli.AtMost(0),
		Long: "Save the entries of files to the tenant catalog: all of them or, if one is invalid, none. Files are in Muster's format, with any number\n" +
			"of entries each, or in Coopr's: definitions in folders such as clustertemplates, or one file with a complete export.",
		Example: "  muster catalog apply -f catalog/ --note 'more memory for the store'\n  muster catalog apply -f catalog/ --prune --dry-run"}
	f.declare(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the changes without saving them")
	cmd.Flags().StringVar(&f.change.Note, "note", "", "`note` for the history")
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		change, err := f.read(c)
		if err != nil {
			return err
		}
		r, err := cl.Catalog.Change(ctx, change, !dry)
		if err != nil {
			return err
		}
		return sayReport(c, r)
	})
}

// DiffCommand has the exit codes of kubectl diff: a difference isn't a failure, but scripts can detect it.
func DiffCommand(c *cli.Context) *cobra.Command {
	var f catalogFiles
	cmd := &cobra.Command{Use: "diff -f FILE", Short: "Compare files with the tenant catalog", Args: cli.AtMost(0),
		Long: "Compare files with the tenant catalog. Nothing is saved. The exit code is 0 if there are no differences, and 1 if there are some or\n" +
			"a file is invalid.",
		Example: "  muster catalog diff -f catalog/ --prune"}
	f.declare(cmd)
	return c.Asks(cmd, func(ctx context.Context, cl *cli.Client, _ []string) error {
		change, err := f.read(c)
		if err != nil {
			return err
		}
		r, err := cl.Catalog.Change(ctx, change, false)
		if err != nil {
			return err
		}
		if err := sayReport(c, r); err != nil {
			return err
		}
		if len(r.Changes) > 0 {
			return cli.SilentError{}
		}
		return nil
	})
}

// sayReport fails silently if there are errors.
func sayReport(c *cli.Context, r catalog.Report) error {
	if c.JSON() {
		if err := c.PrintJSON(r); err != nil {
			return err
		}
	} else {
		for _, p := range r.Problems {
			fmt.Fprintln(c.Stdout, problemLine(p))
		}
		for _, e := range r.Changes {
			fmt.Fprintf(c.Stdout, "%s %s (version %d)\n", map[string]string{"add": "+", "change": "~", "remove": "-"}[e.Act], e.CatalogKey, e.Number)
			for _, f := range e.Fields {
				fmt.Fprintf(c.Stdout, "    %s: %s -> %s\n", f.Path, cli.Shown(f.Before), cli.Shown(f.After))
			}
			for _, w := range e.Warnings {
				fmt.Fprintf(c.Stdout, "    %s\n", w)
			}
		}
		switch {
		case r.OK() && len(r.Changes) == 0:
			fmt.Fprintln(c.Stdout, "No changes.")
		case r.Saved:
			fmt.Fprintf(c.Stdout, "Saved as revision %s: %s, %d unchanged.\n", r.Revision, humanize.Count(len(r.Changes), "change"), r.Unchanged)
		default:
			fmt.Fprintf(c.Stdout, "Nothing was saved: %s, %d unchanged.\n", humanize.Count(len(r.Changes), "change"), r.Unchanged)
		}
	}
	if !r.OK() {
		return cli.SilentError{}
	}
	return nil
}

func problemLine(p catalog.Problem) string {
	at := p.File
	if p.Line > 0 {
		at += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			at += ":" + strconv.Itoa(p.Column)
		}
	}
	line := strings.TrimPrefix(at+": ", ": ") + p.Severity + ": "
	if p.Kind != "" {
		line += strings.TrimSpace(p.CatalogKey.String()) + ": "
	}
	return line + humanize.WithHint(p.Message, p.Hint)
}
