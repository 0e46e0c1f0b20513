//go:build unix

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"muster/app"
)

// usage counts what the machines of a data directory have together, so that they do not use up the host. It is asked before something is
// added; what runs already is left alone.
type usage struct {
	files layout
	limit settings

	processes counted
	disk      counted
}

// counted is a number and when it was found.
type counted struct {
	mu sync.Mutex // of each its own: no command waits until all files are counted
	n  int64
	at time.Time
}

// Counting reads all of /proc, or every file of the machines, so an answer holds for a moment.
const (
	processesHold = time.Second
	diskHold      = 10 * time.Second
)

// roomForProcess refuses one more command where the machines have their most processes.
func (u *usage) roomForProcess() error {
	u.processes.mu.Lock()
	defer u.processes.mu.Unlock()
	if time.Since(u.processes.at) > processesHold {
		u.processes.n, u.processes.at = int64(countProcesses(u.files)), time.Now()
	}
	if u.processes.n < int64(u.limit.maxProcesses) {
		u.processes.n++ // the one that is about to start
		return nil
	}
	e := app.Errorf(app.ECapacity, "the sandbox is at its limit of %d processes", u.limit.maxProcesses)
	e.Hint = "Stop processes, delete machines, or raise the provider's setting max_processes."
	return e
}

// roomOnDisk refuses one more machine where the files of the others take all that they may.
func (u *usage) roomOnDisk(ctx context.Context) error {
	u.disk.mu.Lock()
	defer u.disk.mu.Unlock()
	most := int64(u.limit.maxDiskGB) << 30
	if time.Since(u.disk.at) > diskHold {
		n, err := diskUsed(ctx, u.files.nodes(), most)
		if err != nil {
			return err
		}
		u.disk.n, u.disk.at = n, time.Now()
	}
	if u.disk.n < most {
		return nil
	}
	e := app.Errorf(app.ECapacity, "the sandbox is at its limit of %d GB of files", u.limit.maxDiskGB)
	e.Hint = "Delete files or machines, or raise the provider's setting max_disk_gb."
	return e
}

// diskUsed adds up the blocks of files below a directory, until there are enough of them. Files that go meanwhile are none.
func diskUsed(ctx context.Context, dir string, enough int64) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return nil
			}
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // removed meanwhile
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			sum += int64(st.Blocks) * 512 //nolint:unconvert // its type differs between systems
		}
		if sum >= enough {
			return filepath.SkipAll
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return sum, err
}
