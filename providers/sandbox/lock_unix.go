//go:build unix

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockPoll is how often a taken lock is tried again. The kernel's own waiting cannot be cancelled.
const lockPoll = 2 * time.Millisecond

// lockFile takes the lock of a file, making the file if need be, and waits until it is free or ctx is done. It holds
// among goroutines and among processes, and ends with the process.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(ctx, f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// lockNode takes the lock of one machine, which is its directory. With make, the directory is made where it is not;
// else fs.ErrNotExist tells. Unlocking removes the directory if it is empty.
func (l layout) lockNode(ctx context.Context, id string, make bool) (unlock func(), err error) {
	dir := l.node(id)
	for {
		if make {
			if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
		f, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) && make {
			continue // deleted in between
		}
		if err != nil {
			return nil, err
		}
		if err := flock(ctx, f); err != nil {
			_ = f.Close()
			return nil, err
		}
		if sameFile(f, dir) {
			return func() {
				_ = os.Remove(dir)
				_ = f.Close()
			}, nil
		}
		_ = f.Close() // the one we waited for has deleted it: this lock guards nothing any more
	}
}

// unbegunWait is how long the lock of a directory without a record is waited for: a process that was killed while it
// started another may hold it for a moment more.
const unbegunWait = 100 * time.Millisecond

// removeUnbegun removes a machine's directory that has no record, and at most one that was being written when its writer
// was killed, unless someone is about to fill it. Nothing was made for such a machine: the record comes first.
func (l layout) removeUnbegun(ctx context.Context, id string) {
	f, err := os.Open(l.node(id))
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	ctx, cancel := context.WithTimeout(ctx, unbegunWait)
	defer cancel()
	if flock(ctx, f) != nil {
		return
	}
	if _, err := os.Stat(l.recordFile(id)); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	unfinished, _ := filepath.Glob(l.file(id, unfinishedFile))
	for _, u := range unfinished {
		_ = os.Remove(u)
	}
	_ = os.Remove(l.node(id))
}

func sameFile(f *os.File, path string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

func flock(ctx context.Context, f *os.File) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(lockPoll):
		}
	}
}

// tryLock takes the lock of a file at once, or returns nil where another holds it.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	return f, nil
}
