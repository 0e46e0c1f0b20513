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
	cmd := cli.Family("migrate", "Look at, and change, the tables of the database (on the server's host)", migrateStatusCommand(c), migrateUpCommand(c))
	cmd.Long = "Servers bring the tables up to date when they start, unless they are told not to (serve --no-migrate). These commands do so beforehand. They speak to\n" +
		"the database itself, with the settings of `muster serve` (DATABASE_URL, MUSTER_DATA). Servers of the version before go on working meanwhile\n" +
		"and after; docs/upgrades.md says how several are upgraded one after the other."
	return cmd
}

// Inspect looks at the database of this host. One that is not there yet is one without tables.
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
		Use: "status", Short: "Tell which migrations the database has, and which are pending", Args: cli.AtMost(0),
		Long: "Tell which migrations the database has, and which are pending. It ends with 1 where this program must not work with the database.",
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
		_, err := fmt.Fprintf(c.Stdout, "%s: no tables yet; %s will make them.\n", found.Kind, humanize.Count(len(found.Pending), "migration"))
		return err
	}
	fmt.Fprintf(c.Stdout, "%s %s: migration %d; this program knows %d.\n", found.Kind, found.Version, found.Migration, found.Newest)
	for _, m := range found.Pending {
		fmt.Fprintf(c.Stdout, "pending  %d %s\n", m.Number, m.Name)
	}
	switch {
	case found.TooNew() && found.Needs <= found.Newest:
		fmt.Fprintln(c.Stdout, "A newer Muster has changed the tables. This one can work with them, as it does in an upgrade of several servers.")
	case !found.TooNew() && len(found.Pending) == 0:
		fmt.Fprintln(c.Stdout, "Up to date.")
	}
	return nil
}

func migrateUpCommand(c *cli.Context) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "up", Short: "Bring the tables up to date", Args: cli.AtMost(0),
		Long: "Bring the tables up to date, one migration after the other, each in a transaction. Several that are started at once wait for each other. What was\n" +
			"done stays when it is interrupted, and the next call goes on.",
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
				word = "would do "
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
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only tell what would be done")
	return cmd
}
