//go:build linux

package cache

import (
	"io/fs"
	"syscall"
	"time"
)

// accessed is when a file was last asked for, which is kept as its time of access: that of change reports whether it was changed.
func accessed(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Atim.Sec, s.Atim.Nsec)
	}
	return info.ModTime()
}
