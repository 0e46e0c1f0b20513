//go:build unix

package doctor

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// othersOwn reports whether root checks files of another user, and returns that user's name or number.
func othersOwn(info fs.FileInfo) (owner string, other bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid == 0 || os.Geteuid() != 0 {
		return "", false
	}
	owner = strconv.FormatUint(uint64(s.Uid), 10)
	if u, err := user.LookupId(owner); err == nil {
		owner = u.Username
	}
	return owner, true
}

// room returns a disk's free and total bytes.
func room(dir string) (free, total int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	size := int64(s.Bsize) //nolint:unconvert // its type differs between systems
	return int64(s.Bavail) * size, int64(s.Blocks) * size, nil
}

// openFiles returns the limit on open files. Go raises the soft limit to the hard one automatically.
func openFiles() (int64, error) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0, err
	}
	return int64(min(uint64(r.Max), 1<<40)), nil //nolint:unconvert // its type differs between systems
}
