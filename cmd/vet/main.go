package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

func main() {
	build, _ := debug.ReadBuildInfo()
	os.Exit(run(build.Main.Path, os.Args[1:], os.Stdout, os.Stderr, goVet))
}

// run returns the exit code. The arguments are those that go vet returns a tool: -V=full, -flags, or flags and the description of one package.
func run(module string, args []string, out, errs io.Writer, vet func(args []string, out, errs io.Writer) error) int {
	skip, err := foreign(module, args)
	switch {
	case err != nil || skip:
	case len(args) == 1 && strings.HasPrefix(args[0], "-V"):
		err = version(args, out, errs, vet)
	default:
		err = vet(args, out, errs)
	}
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return ended.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(errs, "vet:", err)
		return 1
	}
	return 0
}

// foreign reports whether a package of another module is to be looked at for the sake of ours only. Its facts are written then: none.
func foreign(module string, args []string) (bool, error) {
	if len(args) == 0 || !strings.HasSuffix(args[len(args)-1], ".cfg") {
		return false, nil
	}
	text, err := os.ReadFile(args[len(args)-1])
	if err != nil {
		return false, err
	}
	var of struct {
		ModulePath, VetxOutput string
		VetxOnly               bool
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return false, fmt.Errorf("%s: %w", args[len(args)-1], err)
	}
	if !of.VetxOnly || of.ModulePath == module || of.VetxOutput == "" {
		return false, nil
	}
	return true, os.WriteFile(of.VetxOutput, nil, 0o644) // a file, so that go vet remembers it
}

// version names this program and Go's vet together: what go vet remembers holds for both.
func version(args []string, out, errs io.Writer, vet func([]string, io.Writer, io.Writer) error) error {
	var theirs bytes.Buffer
	if err := vet(args, &theirs, errs); err != nil {
		return err
	}
	name, err := os.Executable()
	if err != nil {
		return err
	}
	own, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, _ = sum.Write(append(own, theirs.Bytes()...))
	_, err = fmt.Fprintf(out, "vet version devel buildID=%x\n", sum.Sum(nil))
	return err
}

// goVet runs the vet of the Go that started this program, which says where its tools are.
func goVet(args []string, out, errs io.Writer) error {
	dir := os.Getenv("GOTOOLDIR")
	name := filepath.Join(dir, "vet")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if _, err := os.Stat(name); dir == "" || err != nil {
		name, args = "go", append([]string{"tool", "vet"}, args...)
	}
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = out, errs
	return c.Run()
}
