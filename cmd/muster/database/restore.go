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

// defaultRestoreLease is for how long at least clusters live on after a restore: long enough for people to see what there is and to extend it.
const defaultRestoreLease = 24 * time.Hour

func RestoreCommand(c *cli.Context) *cobra.Command {
	var lease time.Duration
	var check, unproven bool
	var at string
	cmd := &cobra.Command{
		Use: "restore FILE|-", Short: "Bring a backup into an empty database (on the server's host, while no server runs on it)", Args: cli.Exactly("FILE"),
		Long: "Bring a backup into an empty database: that of DATABASE_URL, or one that is made in the data directory. - is standard input. Before\n" +
			"anything is written, every byte is compared with the backup's manifest, and the manifest is authenticated with the key that the backup was made\n" +
			"with (MUSTER_SECRET_KEY, or secret.key in the data directory): a backup that was changed is refused. All rows are restored in one transaction,\n" +
			"or none. A backup of an older version is migrated. The oldest ones aren't authenticated and need --allow-unauthenticated, since anyone who could\n" +
			"write to the file may have changed accounts, roles, catalogs or scripts in it.\n\n" +
			"The world went on since the backup. So numbers go on far beyond those that may have been given since, machines are looked for before they\n" +
			"are asked for again, leases that would end get --lease, and everybody has to sign in anew. docs/runbooks.md says what to look at then.",
		Example: "  muster restore muster-2026-01-31.tar.gz --data /var/lib/muster",
		RunE: func(cmd *cobra.Command, args []string) error {
			if lease < 0 {
				return cli.Usagef("--lease must not be negative")
			}
			if check {
				return checkBackup(cmd.Context(), c, args[0], unproven)
			}
			return restore(cmd.Context(), c, args[0], lease, at, unproven)
		},
	}
	cmd.Flags().DurationVar(&lease, "lease", defaultRestoreLease, "for how `long` at least clusters live on")
	cmd.Flags().BoolVar(&check, "check", false, "only check that the file is complete and authentic, and show what is in it")
	cmd.Flags().BoolVar(&unproven, "allow-unauthenticated", false, "also accept a backup of a version that did not authenticate backups; with --check: skip the key")
	cmd.Flags().StringVar(&at, "blob", "", "`URL` of the place for contents of resources (default $MUSTER_BLOB_URL, or the data directory)")
	return cmd
}

// opener opens a backup as often as it has to be read. What comes over standard input is kept in a file meanwhile, which has no name.
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
	what := "An authentic"
	if !m.Proven {
		what = "A complete, but not authenticated"
	}
	_, err = fmt.Fprintf(c.Stdout, "%s backup of the installation %s, made %s by Muster %s on %s (migration %d), with %s, %s and %s.\n", what, head.Installation,
		head.MadeAt.Format(time.RFC3339), head.Version, head.Database, head.Migration, humanize.Count(m.Rows["clusters"], "cluster"), humanize.Count(m.Rows["operations"], "operation"), humanize.Count(m.Rows["users"], "account"))
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
	head, _, out, err := backup.Bring(ctx, open, where, db.Restored{Keeper: keeper, Now: time.Now(), Lease: lease}, unproven,
		func(name string, size int64, r io.Reader) error { return blobs.Put(ctx, name, size, r) })
	if err != nil {
		return err
	}
	missing, wrong, err := afterRestore(ctx, where, keeper, blobs, head)
	if err != nil {
		return fmt.Errorf("the backup was brought in, but: %w", err)
	}
	return tellRestore(c, where, head, out, missing, wrong)
}

// afterRestore opens what was brought in as a server would, notes in the audit that it was, and looks what is missing.
func afterRestore(ctx context.Context, where string, keeper keyKeeper, blobs interface {
	Has(context.Context, string) (bool, error)
}, head backup.Head) (missing int, wrong []string, err error) {
	s, err := store.OpenWith(ctx, where, keeper)
	if err != nil {
		return 0, nil, err
	}
	defer s.Close()
	if err := s.NoteDeed(ctx, app.Deed{Tenant: app.DefaultTenant, At: time.Now(), Who: "operator", Via: "cli", Act: "installation.restore", Object: head.Installation,
		Detail: fmt.Sprintf(`{"after":{"made_at":%q,"version":%q}}`, head.MadeAt.Format(time.RFC3339), head.Version)}); err != nil {
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
	wrong, err = s.Wrong(ctx)
	return missing, wrong, err
}

func tellRestore(c *cli.Context, where string, head backup.Head, out db.Outcome, missing int, wrong []string) error {
	if os.Getenv("DATABASE_URL") != "" {
		where = "DATABASE_URL"
	} else if abs, err := filepath.Abs(where); err == nil {
		where = abs
	}
	if c.JSON() {
		return c.PrintJSON(map[string]any{"database": where, "made_at": head.MadeAt, "restored": out, "missing_contents": missing, "wrong": wrong})
	}
	fmt.Fprintf(c.Stdout, "Restored the installation %s into %s: %s of %s, made %s ago.\n", head.Installation, where, humanize.Count(out.Rows, "row"), humanize.Count(out.Clusters, "standing cluster"), humanize.Duration(time.Since(head.MadeAt)))
	if n := len(out.Migrated); n > 0 {
		fmt.Fprintf(c.Stdout, "Brought up to date by %s.\n", humanize.Count(n, "migration"))
	}
	for _, w := range wrong {
		fmt.Fprintf(c.Stdout, "Look at this: %s.\n", w)
	}
	fmt.Fprintf(c.Stdout, "\nWhat happened since the backup is not known any more. Start a server, and then:\n"+
		"  %s will go on by themselves; look with `muster queue`.\n", humanize.Count(out.Operations, "operation"))
	if out.Leases > 0 {
		fmt.Fprintf(c.Stdout, "  The leases of %s were made longer: extend those that are needed with `muster cluster extend`.\n", humanize.Count(out.Leases, "cluster"))
	}
	fmt.Fprint(c.Stdout, "  Machines made since are listed by `muster orphans`, and deleted only when you say so.\n"+
		"  Clusters whose machines were given back since are marked as failed within minutes: see `muster cluster list`.\n"+
		"  Passwords, tokens and roles are as they were: take back again what was taken back since (`muster token list`, `muster user list`).\n")
	if missing > 0 {
		fmt.Fprintf(c.Stdout, "  %s of resources are not where they should be: bring them back there, or push them again.\n", humanize.Count(missing, "content"))
	}
	return nil
}
