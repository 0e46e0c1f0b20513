//go:build ignore

// Generate writes the *_templ.go files of folders (by default the current one) from their *.templ files.
//
// Each component is marked go:noinline: it is a call with one large closure, which the compiler would copy into every caller. Without the
// mark, portal took three times as long to compile and page twice (measured with -gcflags=-bench=FILE, Go 1.26).
package main

import (
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

var component = regexp.MustCompile(`(?m)^func .*\) templ\.Component \{$`)

func main() {
	dirs := []string{"."}
	if len(os.Args) > 1 {
		dirs = os.Args[1:]
	}
	for _, dir := range dirs {
		if err := generate(dir); err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}

func generate(dir string) error {
	if out, err := exec.Command("go", "tool", "templ", "generate", "-path", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*_templ.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if text, err = format.Source(component.ReplaceAll(text, []byte("//go:noinline\n$0"))); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
