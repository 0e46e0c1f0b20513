package backup

import (
	"context"
	"io"
	"time"

	"muster/app"
	"muster/app/resource"
	"muster/app/store/db"
)

// Contents is where contents of resources are.
type Contents interface {
	Open(ctx context.Context, name string, from int64) (io.ReadCloser, error)
}

var _ Contents = resource.BlobStore(nil)

// Result is what came of a backup.
type Result struct {
	Head     Head
	Manifest Manifest
	Missing  []string // contents that rows speak of and that are not there; of a backup with resources
}

// Take writes a backup of a snapshot, authenticated with the database's key-encryption key; another key is refused, since the backup couldn't be
// restored. Contents may
// be nil: then the backup has no contents of resources.
func Take(ctx context.Context, to io.Writer, s *db.Snapshot, keeper db.KeyKeeper, version string, at time.Time, contents Contents) (out Result, err error) {
	if err := s.CheckKey(ctx, keeper); err != nil {
		return out, err
	}
	out.Head = Head{Form: newest, Version: version, CreatedAt: at.UTC(), Database: s.Kind + " " + s.Version, Installation: s.Installation, Migration: s.Migration,
		Resources: contents != nil, Tables: s.Tables}
	w, err := newWriter(ctx, to, out.Head, keeper)
	if err != nil {
		return out, err
	}
	for _, t := range s.Tables {
		if err := s.Rows(ctx, t, func(row []any) error { return w.Row(t.Name, row) }); err != nil {
			return out, err
		}
	}
	if contents != nil {
		blobs, err := s.Blobs(ctx)
		if err != nil {
			return out, err
		}
		for _, b := range blobs {
			if err := content(ctx, w, b, contents); app.CodeOf(err) == app.ENotFound {
				// A content goes when nothing needs it any more; so it may have gone while this was written.
				out.Missing = append(out.Missing, b.Name)
			} else if err != nil {
				return out, err
			}
		}
	}
	out.Manifest, err = w.Close()
	return out, err
}

func content(ctx context.Context, w *writer, b db.Blob, from Contents) error {
	r, err := from.Open(ctx, b.Name, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	return w.Blob(b.Name, b.Size, r)
}

// Opener opens a backup from its beginning.
type Opener func() (io.ReadCloser, error)

// Put keeps a content of a resource.
type Put func(name string, size int64, from io.Reader) error

// Restore checks a whole backup, keeps the contents of resources that are in it where put is not nil, and then brings its rows into a database that has no
// installation; see store.Restore. Of r, what the backup says is filled in here; its keeper must authenticate the backup, unless unprovenToo is set
// and the backup
// predates proofs. Contents that were kept before it failed harm nothing.
func Restore(ctx context.Context, open Opener, where string, r db.Restored, unprovenToo bool, put Put) (head Head, m Manifest, out db.Outcome, err error) {
	read := func(f func(io.Reader) error) error {
		from, err := open()
		if err != nil {
			return err
		}
		defer from.Close()
		return f(from)
	}
	if err = read(func(from io.Reader) error { head, m, err = Check(ctx, from, r.Keeper, unprovenToo); return err }); err != nil {
		return head, m, out, err
	}
	if err = db.Empty(ctx, where); err != nil {
		return head, m, out, err
	}
	if put != nil && head.Resources {
		if err = read(func(from io.Reader) error { return blobs(from, m, put) }); err != nil {
			return head, m, out, err
		}
	}
	r.Migration, r.Tables = head.Migration, head.Tables
	r.Load = func(row func(string, []any) error) error {
		return read(func(from io.Reader) error { return Rows(from, head, m, row) })
	}
	out, err = db.Restore(ctx, where, r)
	return head, m, out, err
}
