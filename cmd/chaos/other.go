//go:build !unix

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos: freezing and killing processes is tried on Unix only")
	os.Exit(1)
}
