package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killNode ends every process of a process machine and returns when none is left. A process is the machine's if its environment
// says so; or, since daemons overwrite the memory where their environment was, if it works in the machine's directory and has
// no terminal (a person who looks around in there keeps their shell).
func killNode(ctx context.Context, id, dir string) error {
	ended := map[int]uint64{}
	looks := 0
	for quiet := time.Now(); ; looks++ {
		found := nodeProcesses(id, dir, ended)
		if len(found.pids) == 0 && (!found.missed || time.Since(quiet) > longestQuiet && looks > maxLooks) {
			return nil
		}
		meant := func(pid int) func() bool {
			return func() bool { is, _ := belongs(pid, id, dir); return is }
		}
		for _, pid := range found.pids {
			quiet, looks = time.Now(), 0
			killSurely(pid, meant(pid))
		}
		if found.missed {
			for pid := range newborn(chaseTime) {
				if meant(pid)() {
					quiet, looks = time.Now(), 0
					killSurely(pid, meant(pid))
				}
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("processes %v didn't exit: %w", found.pids, ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// chaseTime is for how long one look is followed by a watch for new processes. A look at all of them takes longer than a
// process may live that only starts the next one; that next one is caught as it is born.
const chaseTime = 10 * time.Millisecond

// maxBorn limits how many processes are taken for new at once: more have been started only where this one was not let run.
const maxBorn = 64

// newborn returns, for the time given, the numbers of processes as they are started, wherever on this host.
func newborn(d time.Duration) iter.Seq[int] {
	return func(yield func(int) bool) {
		f, err := os.Open("/proc/loadavg")
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }()
		last := lastPID(f)
		for start := time.Now(); time.Since(start) < d; {
			next := lastPID(f)
			for pid := max(last+1, next-maxBorn); pid <= next; pid++ {
				if !yield(pid) {
					return
				}
			}
			last = next // also where the numbers began again: those that were passed over then the next look finds
		}
	}
}

// lastPID reads the number that was given to a process last, the fifth word of /proc/loadavg; 0 where it cannot be read.
func lastPID(loadavg *os.File) int {
	var b [128]byte
	n, _ := loadavg.ReadAt(b[:], 0)
	words := bytes.Fields(b[:n])
	if len(words) < 5 {
		return 0
	}
	pid, _ := strconv.Atoi(string(words[4]))
	return pid
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

// Looks that find nothing, but could each have missed something, continue for so long and so often: elsewhere on the host
// processes come and go all the time, and where it is busy a look may take long.
const (
	longestQuiet = time.Second
	maxLooks     = 100
)

// processes is what one look at all processes finds. It may have missed one where another ended before it was looked at: that one
// may have been the machine's, and have started the next one too late to be listed.
type processes struct {
	pids   []int
	missed bool
}

// nodeProcesses takes a look. Those in ended, by their number and the time of their start, had ended
// before it, though no one has waited for them; it adds to them.
func nodeProcesses(id, dir string, ended map[int]uint64) (found processes) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return found
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	for _, pid := range slices.Backward(pids) { // the newest first: they are the ones that may be gone in a moment
		is, gone := belongs(pid, id, dir)
		switch {
		case is:
			found.pids = append(found.pids, pid)
		case gone:
			// A number alone would not do: it is given to another process in time, on a busy host within seconds.
			start, _, err := procStat(pid)
			if err != nil || ended[pid] != start {
				ended[pid] = start
				found.missed = true
			}
		}
	}
	return found
}

// belongs says whether a process is the machine's; of one that has ended, or is ending, that cannot be said any more.
func belongs(pid int, id, dir string) (is, gone bool) {
	if pid <= 1 || pid == os.Getpid() {
		return false, false
	}
	proc := "/proc/" + strconv.Itoa(pid)
	info, err := os.Stat(proc)
	if err != nil || !ours(info) {
		return false, err != nil
	}
	_, state, err := procStat(pid)
	if err != nil || state == 'Z' || state == 'X' {
		return false, true
	}
	environ, err := os.ReadFile(proc + "/environ")
	if err != nil && !errors.Is(err, os.ErrPermission) {
		return false, true
	}
	mark := []byte(nodeVariable + "=" + id)
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(v, mark) {
			return true, false
		}
	}
	cwd, err := os.Readlink(proc + "/cwd")
	if err != nil {
		return false, errors.Is(err, os.ErrNotExist) // it has let go of its directory, and soon of its number
	}
	return within(cwd, dir) && !hasTerminal(proc), false
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
