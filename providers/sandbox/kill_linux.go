package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killNode ends every process of a process machine and returns when none is left. A process is the machine's if its environment
// says so; or, since daemons overwrite the memory where their environment stood, if it works in the machine's directory and has
// no terminal (a person who looks around in there keeps their shell).
func killNode(ctx context.Context, id, dir string) error {
	for {
		found := nodeProcesses(id, dir)
		if len(found) == 0 {
			return nil
		}
		for _, pid := range found {
			killSurely(pid, func() bool { return belongs(pid, id, dir) })
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("processes %v do not end: %w", found, ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// killSurely kills a process if, once its number can no longer change hands, it is still the one that is meant.
func killSurely(pid int, meant func() bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if meant() {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

func nodeProcesses(id, dir string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && belongs(pid, id, dir) {
			out = append(out, pid)
		}
	}
	return out
}

func belongs(pid int, id, dir string) bool {
	if pid <= 1 || pid == os.Getpid() {
		return false
	}
	proc := "/proc/" + strconv.Itoa(pid)
	info, err := os.Stat(proc)
	if err != nil || !ours(info) {
		return false
	}
	_, state, err := procStat(pid)
	if err != nil || state == 'Z' || state == 'X' {
		return false
	}
	environ, err := os.ReadFile(proc + "/environ")
	if err != nil && !errors.Is(err, os.ErrPermission) {
		return false
	}
	mark := []byte(nodeVariable + "=" + id)
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(v, mark) {
			return true
		}
	}
	cwd, err := os.Readlink(proc + "/cwd")
	return err == nil && within(cwd, dir) && !hasTerminal(proc)
}

// ours says whether we may take the process for one that a machine of ours has started: as root any, else only our own.
func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (os.Geteuid() == 0 || int(st.Uid) == os.Geteuid())
}

func hasTerminal(proc string) bool {
	b, err := os.ReadFile(proc + "/stat")
	if err != nil {
		return false
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	return len(f) > 4 && !bytes.Equal(f[4], []byte("0"))
}
