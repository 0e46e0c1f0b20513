//go:build unix

package database

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"muster/app"
)

// lockTimeout is how long a killed server's lock may survive in a child process that it was just starting.
const lockTimeout = 2 * time.Second

// LockDirectory makes sure that one process at a time uses a data directory. The lock ends with the process.
func LockDirectory(dir string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	err = lockFile(f)
	for began := time.Now(); err != nil && time.Since(began) < lockTimeout; {
		time.Sleep(20 * time.Millisecond)
		err = lockFile(f)
	}
	if err != nil {
		_ = f.Close()
		return nil, &app.Error{Code: app.EConflict, Reason: "data_locked", Message: "another server uses the data directory " + dir,
			Hint: "Stop it first, or choose another directory with --data."}
	}
	return f.Close, nil
}

// lockFile locks an open file until it's closed, or reports that another process holds the lock.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
