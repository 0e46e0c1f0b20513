//go:build unix

package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// TerminalWidth returns a terminal's width in cells, 80 if unknown.
func TerminalWidth(w io.Writer) int {
	width, _ := TerminalSize(w)
	return width
}

// TerminalSize returns a terminal's width and height, 80 and 24 if unknown.
func TerminalSize(w io.Writer) (width, height int) {
	if f, ok := Raw(w).(*os.File); ok {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 && size.Row > 0 {
			return int(size.Col), int(size.Row)
		}
	}
	return 80, 24
}
