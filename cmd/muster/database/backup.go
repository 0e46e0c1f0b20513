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
		Use: "backup FILE|-", Short: "Back up the database (on the server's host)", Args: cli.Exactly("FILE"),
		Long: "Write a consistent snapshot of the database to FILE, or to stdout if FILE is -. Servers can keep running. The format is the same for\n" +
			"SQLite and PostgreSQL, and `muster restore` restores it into either.\n\n" +
			"Secrets in the backup are encrypted as in the database; everything else is readable, so protect the file like the database. The\n" +
			"secret key (MUSTER_SECRET_KEY, or secret.key in the data directory) isn't in the backup: keep a copy of it elsewhere. The key also\n" +
			"authenticates the backup: restore needs it, and rejects a backup that was modified.",
		Example: "  muster backup muster-2026-01-31.tar.gz\n  muster backup - | age -r age1… > muster.age",
		RunE: func(cmd *cobra.Command, args []string) error {
			return takeBackup(cmd.Context(), c, args[0], resources, at)
		},
	}
	cmd.Flags().BoolVar(&resources, "resources", false, "include the contents of resources, which aren't in the database")
	cmd.Flags().StringVar(&at, "blob", "", "`URL` of the blob store with resources (default $MUSTER_BLOB_URL, or the data directory)")
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
		return cli.Usagef("can't write a backup to a terminal").Hint("Name a file, or pipe the output: muster backup - | …")
	}
	count := &counter{w: out}
	taken, err := backup.Take(ctx, count, s, keeper, cli.VersionName(), time.Now(), contents)
	if err = done(err); err != nil {
		return err
	}
	return tellBackup(c, to, taken, count.n)
}

func tellBackup(c *cli.Context, to string, taken backup.Result, size int64) error {
	rows := 0
	for _, n := range taken.Manifest.Rows {
		rows += n
	}
	for _, name := range taken.Missing {
		fmt.Fprintf(c.Stderr, "Skipped content %s: it doesn't exist.\n", name)
	}
	if to == "-" {
		return nil
	}
	if c.JSON() {
		return c.PrintJSON(map[string]any{"file": to, "bytes": size, "rows": rows, "migration": taken.Head.Migration, "created_at": taken.Head.CreatedAt, "resources": taken.Head.Resources, "missing": taken.Missing})
	}
	_, err := fmt.Fprintf(c.Stdout, "Wrote %s: %s, %s from %s. The secret key isn't in the backup; keep a copy of it elsewhere.\n", to, humanize.Bytes(size), humanize.Count(rows, "row"), humanize.Count(len(taken.Head.Tables), "table"))
	return err
}

// openBlobs opens the blob store with its own spool, since a server may be running.
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

// privateFile creates a file readable by its owner only. It's on disk under its name once done reports success; otherwise nothing is left.
func privateFile(name string) (io.Writer, func(error) error, error) {
	if _, err := os.Lstat(name); err == nil {
		return nil, nil, &app.Error{Code: app.EConflict, Message: name + " already exists", Hint: "Choose another file name."}
	}
	clearHalves(filepath.Dir(name), time.Now())
	f, err := os.CreateTemp(filepath.Dir(name), halfBackup) // mode 0600
	if err != nil {
		return nil, nil, err
	}
	_ = lockFile(f) // without file locks, partial files are never cleaned up
	return f, func(err error) error {
		defer os.Remove(f.Name()) // no effect after the rename
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if err := os.Link(f.Name(), name); err != nil { // unlike a rename, it never replaces a file
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
	halfBackup = ".muster-backup-*" // incomplete
	halfIsOld  = time.Hour          // since the last write; a backup writes continuously
)

// clearHalves removes partial files of killed backups. A backup in progress is locked, and not old.
func clearHalves(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir) // if it's unreadable, the backup says so or doesn't need it
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
			continue // another user's
		}
		if lockFile(f) == nil {
			_ = os.Remove(name)
		}
		_ = f.Close()
	}
}

// counter counts bytes.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
