package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"muster/app/humanize"
	"muster/cmd/muster/cli"
)

// manCommand writes man pages, for packages and their readers.
func manCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write a man page for each command",
		Long: "Write a man page for each command into DIR: muster.1, muster-cluster-create.1 and so on. DIR is created if it doesn't exist;\n" +
			"existing man pages in it are replaced.",
		Example: "  muster man ~/.local/share/man/man1 && man muster-cluster-create",
		Args:    cli.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("man pages: %w", err)
			}
			root := documented(cmd.Root())
			// A fixed date keeps package builds reproducible.
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			header := &doc.GenManHeader{Section: "1", Manual: "Muster", Source: "Muster " + cli.Version, Date: &at}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("man pages: %w", err)
			}
			pages, err := filepath.Glob(filepath.Join(args[0], "muster*.1"))
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"directory": args[0], "pages": len(pages)})
			}
			fmt.Fprintf(c.Stdout, "%s in %s.\n", humanize.Count(len(pages), "man page"), args[0])
			return nil
		},
	}
}

// documented prepares a command tree for its documentation: without the date of the run, and with cobra's own commands.
func documented(root *cobra.Command) *cobra.Command {
	root.DisableAutoGenTag = true
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}
