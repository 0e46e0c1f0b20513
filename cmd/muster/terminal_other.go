//go:build !unix

package main

import "io"

// terminalWidth gives the number of cells in a line of a terminal: 80, which every terminal has.
func terminalWidth(io.Writer) int { return 80 }
