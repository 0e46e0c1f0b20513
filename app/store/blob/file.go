package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"muster/app/cloudurl"
)

const (
	temporary  = ".tmp"   // ends the names of files that are being written
	attributes = ".attrs" // ends the names of files that earlier versions wrote beside contents in directories named by a URL

	// leftover is the age from which nothing writes to a temporary file any more: an upload may take six hours.
	leftover = 24 * time.Hour
)

// directory keeps each content in a file. Names are paths below it, and no name and no link leads out of it.
type directory struct {
	root *os.Root
	mode fs.FileMode // of directories
}

// openFile opens file:///PATH, or file://./PATH for one below the working directory.
func openFile(_ context.Context, u *url.URL) (backend, error) {
	p := cloudurl.Of(u)
	dir, create, mode := filepath.FromSlash(u.Path), p.Text("create_dir") != "", fs.FileMode(p.Number("dir_file_mode"))
	if u.Host == "." {
		dir = strings.TrimPrefix(dir, "/")
	}
	// Earlier versions could be set to say where temporary files are and that there are no attributes. Now both are always so.
	p.Text("no_tmp_dir")
	p.OneOf("metadata", "skip")
	if err := p.Err(); err != nil {
		return nil, err
	}
	if mode == 0 {
		mode = 0o700
	}
	if create {
		if err := os.MkdirAll(dir, mode); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		e := cloudurl.Invalid("Directory %s doesn't exist.", dir)
		e.Hint, e.Err = "Create the directory, or add create_dir=true to the URL.", err
		return nil, e
	}
	if err != nil {
		return nil, ofFile(err)
	}
	return &directory{root: root, mode: mode}, nil
}

// ofFile translates an error of the system.
func ofFile(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", errAbsent, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

func (d *directory) open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	if n, err := d.size(ctx, name); err != nil {
		return nil, err
	} else if n < 0 {
		return nil, errAbsent
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, ofFile(err)
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (d *directory) size(_ context.Context, name string) (int64, error) {
	i, err := d.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && i.IsDir():
		return -1, nil
	case err != nil:
		return -1, ofFile(err)
	}
	return i.Size(), nil
}

func (d *directory) write(ctx context.Context, name string, content *io.SectionReader) error {
	return d.put(ctx, name, content)
}

// put writes beside the name, so that moving the file there is one step. A crash leaves a temporary file or all of the content.
func (d *directory) put(ctx context.Context, name string, content io.Reader) error {
	if err := d.root.MkdirAll(path.Dir(name), d.mode); err != nil {
		return ofFile(err)
	}
	beside := name + "." + rand.Text() + temporary
	f, err := d.root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, d.mode&0o666)
	if err != nil {
		return ofFile(err)
	}
	if _, err = io.Copy(f, reader{ctx, content}); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = d.root.Rename(beside, name)
	}
	if err != nil {
		_ = d.root.Remove(beside)
		return ofFile(err)
	}
	return d.sync(path.Dir(name))
}

// sync brings the entries of a directory, and of those above it, to the disk.
func (d *directory) sync(dir string) error {
	for ; ; dir = path.Dir(dir) {
		f, err := d.root.Open(dir)
		if err != nil {
			return ofFile(err)
		}
		err = f.Sync()
		_ = f.Close()
		if err != nil || dir == "." {
			return err
		}
	}
}

func (d *directory) remove(ctx context.Context, name string) error {
	if n, err := d.size(ctx, name); err != nil || n < 0 {
		return err
	}
	for _, file := range []string{name + attributes, name} {
		if err := d.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ofFile(err)
		}
	}
	return nil
}

func (d *directory) list(ctx context.Context, prefix string, each func(name string, at time.Time) error) error {
	top := "."
	if i := strings.LastIndexByte(prefix, '/'); i > 0 {
		top = prefix[:i]
	}
	return fs.WalkDir(d.root.FS(), top, func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		var i fs.FileInfo
		if err == nil {
			i, err = e.Info()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went meanwhile
			return nil
		case err != nil:
			return ofFile(err)
		case !i.Mode().IsRegular() || !strings.HasPrefix(name, prefix):
			return nil
		case strings.HasSuffix(name, temporary) && time.Since(i.ModTime()) > leftover:
			_ = d.root.Remove(name)
			return nil
		}
		return each(name, i.ModTime())
	})
}

func (d *directory) close() error { return d.root.Close() }
