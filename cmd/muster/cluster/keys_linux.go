package cluster

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"muster/cmd/muster/cli"
)

// readKeys returns keys pressed at a terminal, without echo; restore resets the terminal. Ctrl-C stays a signal. Anything but a
// terminal returns no keys. The reader ends with the process.
func readKeys(in io.Reader) (keys <-chan byte, restore func(), err error) {
	f, ok := in.(*os.File)
	if !ok || !cli.IsTerminal(f) {
		return nil, func() {}, nil
	}
	was, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nil, nil, cli.Usagef("can't read the terminal's settings: %v", err)
	}
	raw := *was
	raw.Lflag &^= unix.ICANON | unix.ECHO
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, &raw); err != nil {
		return nil, nil, cli.Usagef("can't change the terminal's settings: %v", err)
	}
	return keysOf(f), func() { _ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, was) }, nil
}

func keysOf(f *os.File) <-chan byte {
	keys := make(chan byte)
	go func() {
		defer close(keys)
		var b [1]byte
		for {
			if n, err := f.Read(b[:]); n == 0 || err != nil {
				return
			}
			keys <- b[0]
		}
	}()
	return keys
}
