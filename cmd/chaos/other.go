//go:build !unix

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos: freezing and killing processes requires Unix")
	os.Exit(1)
}
