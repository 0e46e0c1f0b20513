package database

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/humanize"
	"muster/app/store/db"
	"muster/cmd/muster/cli"
)

func MigrateCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("migrate", "Show and run database migrations (on the server's host)", migrateStatusCommand(c), migrateUpCommand(c))
	cmd.Long = "Show and run database migrations. Servers migrate the database when they start, unless started with --no-migrate; use these commands to\n" +
		"do so beforehand. They connect to the database itself, with the settings of `muster serve` (DATABASE_URL, MUSTER_DATA). Servers of the\n" +
		"previous version keep working during and after a migration. For rolling upgrades, see docs/upgrades.md."
	return cmd
}

// Inspect inspects this host's database. A missing one counts as one without tables.
func Inspect(ctx context.Context, c *cli.Context) (db.Inspection, string, error) {
	_, where, err := place(c)
	if err != nil {
		return db.Inspection{}, "", err
	}
	found, err := db.Inspect(ctx, where)
	if err != nil && app.AsError(err).Reason == "no_database" {
		return db.Inspection{Kind: "SQLite", Pending: db.Migrations(), Newest: newestMigration()}, where, nil
	}
	return found, where, err
}

func newestMigration() int64 {
	all := db.Migrations()
	return all[len(all)-1].Number
}

func migrateStatusCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the state of the database and pending migrations", Args: cli.AtMost(0),
		Long: "Show the state of the database and pending migrations. The exit code is 1 if this version of Muster can't use the database.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, _, err := Inspect(cmd.Context(), c)
			if err != nil {
				return err
			}
			if c.JSON() {
				err = c.PrintJSON(found)
			} else {
				err = printInspection(c, found)
			}
			if err != nil {
				return err
			}
			return found.Check()
		},
	}
}

func printInspection(c *cli.Context, found db.Inspection) error {
	if !found.Made {
		_, err := fmt.Fprintf(c.Stdout, "%s: no tables yet; %s to run.\n", found.Kind, humanize.Count(len(found.Pending), "migration"))
		return err
	}
	fmt.Fprintf(c.Stdout, "%s %s: migration %d; latest in this version of Muster: %d.\n", found.Kind, found.Version, found.Migration, found.Newest)
	for _, m := range found.Pending {
		fmt.Fprintf(c.Stdout, "pending  %d %s\n", m.Number, m.Name)
	}
	switch {
	case found.TooNew() && found.Needs <= found.Newest:
		fmt.Fprintln(c.Stdout, "A newer version of Muster has migrated the database. This version is compatible with it, as during a rolling upgrade.")
	case !found.TooNew() && len(found.Pending) == 0:
		fmt.Fprintln(c.Stdout, "Up to date.")
	}
	return nil
}

func migrateUpCommand(c *cli.Context) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "up", Short: "Run pending migrations", Args: cli.AtMost(0),
		Long: "Run pending migrations one by one, each in a transaction. Concurrent runs wait for each other. If interrupted, finished migrations are\n" +
			"kept, and the next run continues.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, where, err := Inspect(cmd.Context(), c)
			if err != nil {
				return err
			}
			if err := found.Check(); err != nil {
				return err
			}
			done := found.Pending
			if !dry {
				if os.Getenv("DATABASE_URL") == "" {
					if err := os.MkdirAll(filepath.Dir(where), 0o700); err != nil {
						return fmt.Errorf("data directory: %w", err)
					}
				}
				if done, err = db.MigrateTo(cmd.Context(), where, 0); err != nil {
					return err
				}
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"dry_run": dry, "migrations": append([]db.Migration{}, done...)})
			}
			word := "done     "
			if dry {
				word = "would run "
			}
			for _, m := range done {
				fmt.Fprintf(c.Stdout, "%s%d %s\n", word, m.Number, m.Name)
			}
			if len(done) == 0 {
				fmt.Fprintln(c.Stdout, "Up to date.")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "list pending migrations without running them")
	return cmd
}
