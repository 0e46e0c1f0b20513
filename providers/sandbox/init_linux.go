package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// identify names a running process so that it is never taken for a later one of the same number.
func identify(pid int) (*initProcess, error) {
	start, _, err := procStat(pid)
	if err != nil {
		return nil, err
	}
	boot, err := bootID()
	return &initProcess{PID: pid, Start: start, Boot: boot}, err
}

// alive says whether it still runs. One that has ended but that no one has waited for does not.
func (p *initProcess) alive() bool {
	if p == nil || p.PID <= 1 {
		return false
	}
	boot, err := bootID()
	if err != nil || boot != p.Boot {
		return false
	}
	start, state, err := procStat(p.PID)
	return err == nil && start == p.Start && state != 'Z' && state != 'X'
}

// kill ends the process and returns when it is gone. The kernel ends every other process of a process namespace with
// its first one. A handle on the process makes sure that a reused number is not hit.
func (p *initProcess) kill(ctx context.Context) error {
	if p == nil || p.PID <= 1 {
		return nil
	}
	defer p.reap()
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pidfd_open: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if !p.alive() {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill: %w", err)
	}
	return waitGone(ctx, fd)
}

// waitGone waits until the process of a handle has ended. 50 ms slices let it obey ctx.
func waitGone(ctx context.Context, fd int) error {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int((50 * time.Millisecond).Milliseconds()))
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// reap takes the exit status if the process was started by this one and has ended; else it does nothing. Waiting in
// a goroutine for each machine instead would keep them until the machine ends.
func (p *initProcess) reap() {
	if p == nil || p.PID <= 1 {
		return
	}
	if start, state, err := procStat(p.PID); err == nil && start == p.Start && state == 'Z' {
		_, _ = unix.Wait4(p.PID, nil, unix.WNOHANG, nil)
	}
}

// procStat returns a process's start time in clock ticks after boot, and its state letter.
func procStat(pid int) (start uint64, state byte, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, err
	}
	// The second field is the program's name in parentheses, which may hold anything.
	_, rest, ok := bytes.Cut(b[bytes.LastIndexByte(b, ')')+1:], []byte(" "))
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 20 {
		return 0, 0, fmt.Errorf("can't parse /proc/%d/stat", pid)
	}
	start, err = strconv.ParseUint(fields[19], 10, 64)
	return start, fields[0][0], err
}

func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}
