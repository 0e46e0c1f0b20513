package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/humanize"
	"muster/app/store"
	"muster/app/store/backup"
	"muster/app/store/db"
	"muster/cmd/muster/cli"
)

// defaultRestoreLease is the minimum lease of clusters after a restore: enough time for people to check and extend them.
const defaultRestoreLease = 24 * time.Hour

func RestoreCommand(c *cli.Context) *cobra.Command {
	var lease time.Duration
	var check, unproven bool
	var at string
	cmd := &cobra.Command{
		Use: "restore FILE|-", Short: "Restore a backup into an empty database (on the server's host)", Args: cli.Exactly("FILE"),
		Long: "Restore a backup from FILE, or from stdin if FILE is -, into an empty database: DATABASE_URL, or a new one in the data directory. No\n" +
			"server may be using it. Before anything is written, the whole backup is checked against its manifest, and the manifest is authenticated\n" +
			"with the secret key of the backup (MUSTER_SECRET_KEY, or secret.key in the data directory): a modified backup is rejected. All rows are\n" +
			"restored in one transaction. A backup from an older version is migrated. The oldest versions didn't authenticate backups; those need\n" +
			"--allow-unauthenticated, since anyone with write access to the file could have changed accounts, roles, catalogs or scripts in it.\n\n" +
			"To account for changes since the backup, Muster skips ahead in its numbering, looks for existing machines before it creates new ones,\n" +
			"extends expiring leases to at least --lease, and signs everyone out. See docs/runbooks.md for what to check afterwards.",
		Example: "  muster restore muster-2026-01-31.tar.gz --data /var/lib/muster",
		RunE: func(cmd *cobra.Command, args []string) error {
			if lease < 0 {
				return cli.Usagef("--lease can't be negative")
			}
			if check {
				return checkBackup(cmd.Context(), c, args[0], unproven)
			}
			return restore(cmd.Context(), c, args[0], lease, at, unproven)
		},
	}
	cmd.Flags().DurationVar(&lease, "lease", defaultRestoreLease, "minimum remaining lease `duration` of all clusters")
	cmd.Flags().BoolVar(&check, "check", false, "only check that the file is complete and authentic, and show a summary")
	cmd.Flags().BoolVar(&unproven, "allow-unauthenticated", false, "accept a backup from a version that didn't authenticate backups; with --check: don't require the secret key")
	cmd.Flags().StringVar(&at, "blob", "", "`URL` of the blob store for resources (default $MUSTER_BLOB_URL, or the data directory)")
	return cmd
}

// opener opens a backup as often as needed. Stdin is copied to an unnamed temporary file.
func opener(c *cli.Context, from string) (backup.Opener, func(), error) {
	if from != "-" {
		return func() (io.ReadCloser, error) { return os.Open(from) }, func() {}, nil
	}
	f, err := os.CreateTemp("", "muster-restore-")
	if err != nil {
		return nil, nil, err
	}
	_ = os.Remove(f.Name())
	if _, err := io.Copy(f, c.Stdin); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return func() (io.ReadCloser, error) {
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		return io.NopCloser(io.NewSectionReader(f, 0, info.Size())), nil
	}, func() { _ = f.Close() }, nil
}

func checkBackup(ctx context.Context, c *cli.Context, from string, unproven bool) error {
	var keeper db.KeyKeeper
	if !unproven {
		data, err := c.DataDir()
		if err != nil {
			return err
		}
		k, err := ownKey(ctx, data)
		if err != nil {
			return err
		}
		defer k.Close()
		keeper = k
	}
	open, done, err := opener(c, from)
	if err != nil {
		return err
	}
	defer done()
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	head, m, err := backup.Check(ctx, r, keeper, unproven)
	if err != nil {
		return err
	}
	if c.JSON() {
		return c.PrintJSON(map[string]any{"head": head, "rows": m.Rows, "authenticated": m.Proven})
	}
	what := "Authentic"
	if !m.Proven {
		what = "Complete but unauthenticated"
	}
	_, err = fmt.Fprintf(c.Stdout, "%s backup of installation %s, created %s by Muster %s on %s (migration %d), with %s, %s and %s.\n", what, head.Installation,
		head.CreatedAt.Format(time.RFC3339), head.Version, head.Database, head.Migration, humanize.Count(m.Rows["clusters"], "cluster"), humanize.Count(m.Rows["operations"], "operation"), humanize.Count(m.Rows["users"], "account"))
	return err
}

func restore(ctx context.Context, c *cli.Context, from string, lease time.Duration, at string, unproven bool) error {
	data, where, err := place(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if os.Getenv("DATABASE_URL") == "" {
		unlock, err := LockDirectory(data)
		if err != nil {
			return err
		}
		defer unlock()
	}
	keeper, err := ownKey(ctx, data)
	if err != nil {
		return err
	}
	defer keeper.Close()
	blobs, closeBlobs, err := openBlobs(ctx, data, at)
	if err != nil {
		return err
	}
	defer closeBlobs()
	open, done, err := opener(c, from)
	if err != nil {
		return err
	}
	defer done()
	head, _, out, err := backup.Restore(ctx, open, where, db.Restored{Keeper: keeper, Now: time.Now(), Lease: lease}, unproven,
		func(name string, size int64, r io.Reader) error { return blobs.Put(ctx, name, size, r) })
	if err != nil {
		return err
	}
	missing, wrong, err := afterRestore(ctx, where, keeper, blobs, head)
	if err != nil {
		return fmt.Errorf("the backup was restored, but: %w", err)
	}
	return tellRestore(c, where, head, out, missing, wrong)
}

// afterRestore opens the restored database as a server would, records the restore in the audit log, and checks for missing contents.
func afterRestore(ctx context.Context, where string, keeper keyKeeper, blobs interface {
	Has(context.Context, string) (bool, error)
}, head backup.Head) (missing int, wrong []string, err error) {
	s, err := store.OpenWith(ctx, where, keeper)
	if err != nil {
		return 0, nil, err
	}
	defer s.Close()
	if err := s.AddAuditEntry(ctx, app.AuditEntry{Tenant: app.DefaultTenant, At: time.Now(), Who: "operator", Via: "cli", Act: "installation.restore", Object: head.Installation,
		Detail: fmt.Sprintf(`{"after":{"created_at":%q,"version":%q}}`, head.CreatedAt.Format(time.RFC3339), head.Version)}); err != nil {
		return 0, nil, err
	}
	snapshot, err := db.OpenSnapshot(ctx, where)
	if err != nil {
		return 0, nil, err
	}
	defer snapshot.Close()
	all, err := snapshot.Blobs(ctx)
	if err != nil {
		return 0, nil, err
	}
	for _, b := range all {
		there, err := blobs.Has(ctx, b.Name)
		if err != nil {
			return 0, nil, err
		}
		if !there {
			missing++
		}
	}
	wrong, err = s.IntegrityErrors(ctx)
	return missing, wrong, err
}

func tellRestore(c *cli.Context, where string, head backup.Head, out db.Outcome, missing int, wrong []string) error {
	if os.Getenv("DATABASE_URL") != "" {
		where = "DATABASE_URL"
	} else if abs, err := filepath.Abs(where); err == nil {
		where = abs
	}
	if c.JSON() {
		return c.PrintJSON(map[string]any{"database": where, "created_at": head.CreatedAt, "restored": out, "missing_contents": missing, "wrong": wrong})
	}
	fmt.Fprintf(c.Stdout, "Restored installation %s to %s: %s for %s, from a backup created %s.\n", head.Installation, where, humanize.Count(out.Rows, "row"), humanize.Count(out.Clusters, "live cluster"), humanize.Ago(time.Now(), head.CreatedAt))
	if n := len(out.Migrated); n > 0 {
		fmt.Fprintf(c.Stdout, "Ran %s.\n", humanize.Count(n, "migration"))
	}
	for _, w := range wrong {
		fmt.Fprintf(c.Stdout, "Warning: %s.\n", w)
	}
	fmt.Fprintf(c.Stdout, "\nChanges since the backup are lost. Start a server, and then:\n"+
		"  %s automatically: check them with `muster queue`.\n", humanize.CountOf(out.Operations, "operation continues", "operations continue"))
	if out.Leases > 0 {
		fmt.Fprintf(c.Stdout, "  The leases of %s were extended: extend them further if needed with `muster cluster extend`.\n", humanize.Count(out.Leases, "cluster"))
	}
	fmt.Fprint(c.Stdout, "  Machines created since the backup are orphaned, and deleted only if you say so: check `muster orphans`.\n"+
		"  Clusters whose machines were deleted since the backup fail within minutes: check `muster cluster list`.\n"+
		"  Passwords, tokens and roles are those of the backup: revoke again what was revoked since (`muster token list`, `muster user list`).\n")
	if missing > 0 {
		fmt.Fprintf(c.Stdout, "  %s missing from the blob store: restore them there, or push them again.\n", humanize.CountOf(missing, "resource file is", "resource files are"))
	}
	return nil
}
