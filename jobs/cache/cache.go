package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/template"
	"muster/jobs/internal/loop"
)

// Resources keeps contents of resources on the disk of a host with workers, by tenant and hash. What was asked for longest ago makes room.
// Several processes may share its directory. A content that makes room while it is read can be read to its end.
type Resources struct {
	Dir   string
	Limit int64 // bytes of all tenants together
	Log   *slog.Logger

	mu      sync.Mutex
	coming  map[string]*sync.Mutex // by path: one fetches, the others wait
	checked map[string]time.Time   // by path: the file's time when it was found to be right
}

const (
	fetchTries = 5
	// abandonedAfter is how old what a process has left unfinished must be to be removed.
	abandonedAfter = 6 * time.Hour
)

// Fetch is a content that a step needs.
type Fetch struct {
	From  execution.ResourceFetcher
	As    *execution.Assignment
	ID    app.WorkerID
	Ref   template.ResourceRef
	Cache *Resources
}

func (f Fetch) path() string {
	sum := sha256.Sum256([]byte(f.ID.Tenant))
	return filepath.Join(f.Cache.Dir, hex.EncodeToString(sum[:10]), f.Ref.Hash)
}

// Open returns the content, fetched if it is not there yet, and whether it was. Close the file.
func (f Fetch) Open(ctx context.Context) (file *os.File, fetched bool, err error) {
	if len(f.Ref.Hash) != sha256.Size*2 || strings.ContainsAny(f.Ref.Hash, "/.") {
		return nil, false, app.Errorf(app.EInternal, "%.80q is not a content hash", f.Ref.Hash)
	}
	path := f.path()
	free := f.Cache.hold(path)
	defer free()
	for try := 1; ; try++ {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			if err := f.get(ctx, path); err != nil {
				return nil, false, err
			}
			fetched = true
			file, err = os.Open(path)
		}
		if err != nil {
			return nil, false, cacheProblem(err)
		}
		right, err := f.Cache.right(file, path, f.Ref)
		if err == nil && right {
			now := time.Now()
			if os.Chtimes(path, now, time.Time{}) == nil && fetched {
				f.tell(ctx)
			}
			return file, fetched, nil
		}
		_ = file.Close()
		if err != nil || try > 1 {
			return nil, false, errors.Join(err, app.Errorf(app.ETransient, "Resource %s is corrupted on this worker's disk.", f.Ref))
		}
		_ = os.Remove(path) // the disk has changed it
	}
}

func cacheProblem(err error) error {
	return &app.Error{Code: app.ETransient, Message: "The worker can't store resources on its disk.", Err: fmt.Errorf("jobs: resources: %w", err), Hint: "Check that the disk isn't full."}
}

// hold lets one at a time have a path.
func (c *Resources) hold(path string) (free func()) {
	c.mu.Lock()
	if c.coming == nil {
		c.coming, c.checked = map[string]*sync.Mutex{}, map[string]time.Time{}
	}
	m := c.coming[path]
	if m == nil {
		m = &sync.Mutex{}
		c.coming[path] = m
	}
	c.mu.Unlock()
	m.Lock()
	return m.Unlock
}

// right reports whether a file is what it should be. It is read once for as long as it does not change.
func (c *Resources) right(file *os.File, path string, ref template.ResourceRef) (bool, error) {
	info, err := file.Stat()
	if err != nil {
		return false, cacheProblem(err)
	}
	c.mu.Lock()
	at, known := c.checked[path]
	c.mu.Unlock()
	if known && at.Equal(info.ModTime()) && info.Size() == ref.Size {
		return true, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(file, 0, info.Size())); err != nil {
		return false, cacheProblem(err)
	}
	if info.Size() != ref.Size || hex.EncodeToString(h.Sum(nil)) != ref.Hash {
		return false, nil
	}
	c.mu.Lock()
	c.checked[path] = info.ModTime()
	c.mu.Unlock()
	return true, nil
}

// get fetches a content into its place. What breaks off is gone on with.
func (f Fetch) get(ctx context.Context, path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cacheProblem(err)
	}
	f.Cache.makeRoom(f.Ref.Size)
	temp, err := os.CreateTemp(dir, ".coming-*")
	if err != nil {
		return cacheProblem(err)
	}
	defer os.Remove(temp.Name())
	defer temp.Close()
	h := sha256.New()
	var have int64
	for try := 1; have < f.Ref.Size; try++ {
		n, err := f.more(ctx, io.MultiWriter(temp, h), have)
		if have += n; n > 0 {
			try = 1
		}
		if err == nil && have == f.Ref.Size {
			break
		}
		if err == nil {
			err = app.Errorf(app.ETransient, "Download of resource %s stopped after %d of %d bytes.", f.Ref, have, f.Ref.Size)
		}
		if code := app.CodeOf(err); code != app.ETransient && code != app.ETimeout || try >= fetchTries || loop.Pause(ctx, loop.BackOff(100*time.Millisecond, try)) != nil {
			return err
		}
	}
	if hex.EncodeToString(h.Sum(nil)) != f.Ref.Hash {
		return app.Errorf(app.ETransient, "Resource %s doesn't match its recorded hash.", f.Ref)
	}
	if err := errors.Join(temp.Sync(), temp.Close(), os.Rename(temp.Name(), path)); err != nil {
		return cacheProblem(err)
	}
	return nil
}

// more reads on from an offset, and never beyond the size.
func (f Fetch) more(ctx context.Context, to io.Writer, from int64) (int64, error) {
	r, err := f.From.FetchResource(ctx, f.ID, f.As.Fence, f.Ref.Hash, from)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := io.Copy(to, io.LimitReader(r, f.Ref.Size-from+1))
	var known *app.Error
	switch {
	case from+n > f.Ref.Size:
		return n, app.Errorf(app.EInternal, "resource %s is larger than recorded", f.Ref)
	case err != nil && ctx.Err() == nil && !errors.As(err, &known):
		err = &app.Error{Code: app.ETransient, Message: "Download of resource " + f.Ref.String() + " was interrupted.", Err: err}
	}
	return n, err
}

// held is one content on the disk.
type held struct {
	path string
	size int64
	at   time.Time
}

func (c *Resources) all() (list []held) {
	_ = filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // removed meanwhile
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // removed meanwhile
		}
		if strings.HasPrefix(d.Name(), ".") {
			if time.Since(info.ModTime()) > abandonedAfter {
				_ = os.Remove(path)
			}
			return nil
		}
		list = append(list, held{path, info.Size(), accessed(info)})
		return nil
	})
	return list
}

// makeRoom removes what was asked for longest ago, until there is room for so many bytes.
func (c *Resources) makeRoom(size int64) {
	list := c.all()
	slices.SortFunc(list, func(a, b held) int { return a.at.Compare(b.at) })
	for _, h := range list {
		size += h.size
	}
	for _, h := range list {
		if size <= c.Limit {
			return
		}
		if os.Remove(h.path) == nil {
			size -= h.size
			c.mu.Lock()
			delete(c.checked, h.path)
			c.mu.Unlock()
		}
	}
}

// tell says which contents this host has of the tenant. Nothing depends on it.
func (f Fetch) tell(ctx context.Context) {
	var hashes []string
	dir := filepath.Dir(f.path())
	for _, h := range f.Cache.all() {
		if filepath.Dir(h.path) == dir {
			hashes = append(hashes, filepath.Base(h.path))
		}
	}
	if err := f.From.HoldResources(ctx, f.ID, hashes); err != nil && f.Cache.Log != nil {
		f.Cache.Log.Warn("could not list this host's resources", "error", err)
	}
}
