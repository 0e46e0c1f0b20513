//go:build !unix

package cli

import "io"

// TerminalWidth returns a terminal's width in cells: always 80.
func TerminalWidth(io.Writer) int { return 80 }

// TerminalSize returns a terminal's width and height: always 80 and 24.
func TerminalSize(io.Writer) (width, height int) { return 80, 24 }
