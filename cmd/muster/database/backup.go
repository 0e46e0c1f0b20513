package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/store/backup"
	"muster/app/store/blob"
	"muster/app/store/db"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

func BackupCommand(c *cli.Context) *cobra.Command {
	var resources bool
	var at string
	cmd := &cobra.Command{
		Use: "backup FILE|-", Short: "Write all that the database holds into one file, while servers run (on the server's host)", Args: cli.Exactly("FILE"),
		Long: "Write all that the database holds, as it is at one moment, into one file, while servers run. - is standard output. The file is the same for\n" +
			"SQLite and PostgreSQL, and `muster restore` brings it into either.\n\n" +
			"Secrets in it are sealed as in the database; all else can be read, so keep it as you keep the database. The key that opens what is sealed\n" +
			"(MUSTER_SECRET_KEY, or secret.key in the data directory) is not in it: keep that elsewhere. The same key authenticates the backup: restore needs\n" +
			"it, and refuses a backup that was changed.",
		Example: "  muster backup muster-2026-01-31.tar.gz\n  muster backup - | age -r age1… > muster.age",
		RunE: func(cmd *cobra.Command, args []string) error {
			return takeBackup(cmd.Context(), c, args[0], resources, at)
		},
	}
	cmd.Flags().BoolVar(&resources, "resources", false, "also the contents of resources, which stand beside the database")
	cmd.Flags().StringVar(&at, "blob", "", "`URL` of the place where they are (default $MUSTER_BLOB_URL, or the data directory)")
	return cmd
}

func takeBackup(ctx context.Context, c *cli.Context, to string, resources bool, at string) (err error) {
	data, where, err := place(c)
	if err != nil {
		return err
	}
	s, err := db.OpenSnapshot(ctx, where)
	if err != nil {
		return err
	}
	defer s.Close()
	keeper, err := ownKey(ctx, data)
	if err != nil {
		return err
	}
	defer keeper.Close()
	var contents backup.Contents
	if resources {
		b, closeBlobs, err := openBlobs(ctx, data, at)
		if err != nil {
			return err
		}
		defer closeBlobs()
		contents = b
	}
	out, done := c.Bytes(), func(error) error { return nil }
	if to != "-" {
		if out, done, err = privateFile(to); err != nil {
			return err
		}
	} else if cli.IsTerminal(c.Stdout) {
		return cli.Usagef("a backup is not written to a terminal").Hint("Name a file, or lead it to a program: muster backup - | …")
	}
	count := &counter{w: out}
	taken, err := backup.Take(ctx, count, s, keeper, cli.VersionName(), time.Now(), contents)
	if err = done(err); err != nil {
		return err
	}
	return tellBackup(c, to, taken, count.n)
}

func tellBackup(c *cli.Context, to string, taken backup.Taken, size int64) error {
	rows := 0
	for _, n := range taken.Manifest.Rows {
		rows += n
	}
	for _, name := range taken.Missing {
		fmt.Fprintf(c.Stderr, "The content %s is not there; it is left out.\n", name)
	}
	if to == "-" {
		return nil
	}
	if c.JSON() {
		return c.PrintJSON(map[string]any{"file": to, "bytes": size, "rows": rows, "migration": taken.Head.Migration, "made_at": taken.Head.MadeAt, "resources": taken.Head.Resources, "missing": taken.Missing})
	}
	_, err := fmt.Fprintf(c.Stdout, "%s: %s, %s of %s. Keep the secret key elsewhere: it is not in it.\n", to, humanize.Bytes(size), humanize.Count(rows, "row"), humanize.Count(len(taken.Head.Tables), "table"))
	return err
}

// openBlobs opens the place of contents beside a server that may run: it has a spool of its own.
func openBlobs(ctx context.Context, data, at string) (*blob.Store, func(), error) {
	spool, err := os.MkdirTemp("", "muster-spool-")
	if err != nil {
		return nil, nil, err
	}
	b, err := blob.Open(ctx, blob.Config{URL: cmp.Or(at, os.Getenv("MUSTER_BLOB_URL")), Dir: filepath.Join(data, "resources", "blobs"), Spool: spool})
	if err != nil {
		_ = os.RemoveAll(spool)
		return nil, nil, err
	}
	return b, func() { _ = b.Close(); _ = os.RemoveAll(spool) }, nil
}

// privateFile makes a file that only its owner reads. It has its name once done was told that all went well, and is on disk then; else nothing is left.
func privateFile(name string) (io.Writer, func(error) error, error) {
	if _, err := os.Lstat(name); err == nil {
		return nil, nil, &app.Error{Code: app.EConflict, Message: name + " is there already", Hint: "A backup replaces no file."}
	}
	clearHalves(filepath.Dir(name), time.Now())
	f, err := os.CreateTemp(filepath.Dir(name), halfBackup) // mode 0600
	if err != nil {
		return nil, nil, err
	}
	_ = lockFile(f) // where the file system has no locks, halves are left where they are
	return f, func(err error) error {
		defer os.Remove(f.Name()) // no effect once it was renamed
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if err := os.Link(f.Name(), name); err != nil { // unlike a rename it replaces nothing
			return err
		}
		dir, err := os.Open(filepath.Dir(name))
		if err != nil {
			return err
		}
		return errors.Join(dir.Sync(), dir.Close())
	}, nil
}

const (
	halfBackup = ".muster-backup-*" // has not all in it yet
	halfIsOld  = time.Hour          // since the last byte was written; a backup writes all the time
)

// clearHalves removes what backups into this directory have left that were killed. One that is being written is locked, and not old.
func clearHalves(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir) // where it cannot be read, the backup says so, or does without
	for _, e := range entries {
		if mine, _ := filepath.Match(halfBackup, e.Name()); !mine {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if at, err := os.Lstat(name); err != nil || !at.Mode().IsRegular() || now.Sub(at.ModTime()) < halfIsOld {
			continue
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue // of another user
		}
		if lockFile(f) == nil {
			_ = os.Remove(name)
		}
		_ = f.Close()
	}
}

// counter counts what goes through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
