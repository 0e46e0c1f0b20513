//go:build unix

package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth gives the number of cells in a line of a terminal, 80 where that cannot be told.
func terminalWidth(w io.Writer) int {
	width, _ := terminalSize(w)
	return width
}

// terminalSize gives the cells in a line and the lines of a terminal, 80 and 24 where that cannot be told.
func terminalSize(w io.Writer) (width, height int) {
	if f, ok := raw(w).(*os.File); ok {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 && size.Row > 0 {
			return int(size.Col), int(size.Row)
		}
	}
	return 80, 24
}
