package sandbox

import (
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

const haveTerminals = true

// openTerminal opens a pseudo-terminal for a command as its controlling one.
func (s *session) openTerminal(cmd *exec.Cmd) (*plumbing, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	ours := os.NewFile(uintptr(fd), "/dev/ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	var theirs *os.File
	if err == nil {
		theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr.Setctty = true
	s.terminal = ours
	s.resize(s.size)
	return &plumbing{in: ours, out: []outlet{{ours, toOutput}}, theirs: []*os.File{theirs}, terminal: true}, nil
}

// resize tells the terminal its size. Without a terminal it does nothing.
func (s *session) resize(w window) {
	if s.terminal == nil {
		return
	}
	raw, err := s.terminal.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(w.rows), Col: uint16(w.columns)})
	})
}
