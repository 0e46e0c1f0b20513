//go:build unix

package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// TerminalWidth returns the number of cells in a line of a terminal, 80 where that cannot be told.
func TerminalWidth(w io.Writer) int {
	width, _ := TerminalSize(w)
	return width
}

// TerminalSize returns the cells in a line and the lines of a terminal, 80 and 24 where that cannot be told.
func TerminalSize(w io.Writer) (width, height int) {
	if f, ok := Raw(w).(*os.File); ok {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 && size.Row > 0 {
			return int(size.Col), int(size.Row)
		}
	}
	return 80, 24
}
