//go:build !unix

package cli

import "io"

// TerminalWidth returns the number of cells in a line of a terminal: 80, which every terminal has.
func TerminalWidth(io.Writer) int { return 80 }

// TerminalSize returns the cells in a line and the lines of a terminal: 80 and 24, which every terminal has.
func TerminalSize(io.Writer) (width, height int) { return 80, 24 }
