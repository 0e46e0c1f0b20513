//go:build !unix

package main

import "io"

// terminalWidth gives the number of cells in a line of a terminal: 80, which every terminal has.
func terminalWidth(io.Writer) int { return 80 }

// terminalSize gives the cells in a line and the lines of a terminal: 80 and 24, which every terminal has.
func terminalSize(io.Writer) (width, height int) { return 80, 24 }
