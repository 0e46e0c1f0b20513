package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// maxRetried is how many failed tests are tried again.
const maxRetried = 3

func main() { os.Exit(run(os.Args[1:], os.Stdout, goTest)) }

// run returns the exit code: 0 passed, 1 failed, 2 could not be run.
func run(args []string, out io.Writer, test func(args []string, each func(event)) error) int {
	r := &results{out: out, tests: map[key]*result{}}
	if err := test(args, r.take); err != nil {
		fmt.Fprintln(out, "retest:", err)
		return 2
	}
	failed := r.failed()
	flaky := 0
	switch {
	case r.broken > 0:
	case len(failed) > maxRetried:
		fmt.Fprintf(out, "%d tests failed, which is too many to be chance: they are not run again.\n", len(failed))
	default:
		for _, k := range failed {
			if again(args, k, out, test) {
				flaky++
				fmt.Fprintf(out, "FLAKY %s %s: failed once, then passed twice alone. Its first output:\n%s", k.pkg, k.test, r.tests[k].output.String())
			}
		}
	}
	bad := len(failed) - flaky + r.broken
	if flaky > 0 {
		fmt.Fprintf(out, "%d flaky: each is a bug, in the code or in the test\n", flaky)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", r.passed+flaky, bad, r.skipped)
	if bad > 0 {
		return 1
	}
	return 0
}

// again runs one test alone, twice, and reports whether it passed both times.
func again(args []string, k key, out io.Writer, test func([]string, func(event)) error) bool {
	fmt.Fprintf(out, "Running %s %s again, alone and twice.\n", k.pkg, k.test)
	r := &results{out: io.Discard, tests: map[key]*result{}}
	one := append(flagsOf(args), "-run", "^"+regexp.QuoteMeta(k.test)+"$", "-count", "2", k.pkg)
	if err := test(one, r.take); err != nil || r.broken > 0 || len(r.failed()) > 0 || r.passed < 2 {
		fmt.Fprintf(out, "It failed again:\n")
		if t := r.tests[k]; t != nil {
			fmt.Fprint(out, t.output.String())
		}
		return false
	}
	return true
}

// taking are the flags of go test whose value is the next argument.
var taking = []string{"-tags", "-timeout", "-parallel", "-p", "-run", "-skip", "-count", "-vet", "-ldflags", "-gcflags", "-cpu", "-shuffle"}

// flagsOf leaves out packages, and what decides which tests run and how often.
func flagsOf(args []string) (flags []string) {
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "-") {
			continue
		}
		value := []string{args[i]}
		if !joined && slices.Contains(taking, name) && i+1 < len(args) {
			i++
			value = append(value, args[i])
		}
		if name != "-run" && name != "-skip" && name != "-count" {
			flags = append(flags, value...)
		}
	}
	return flags
}

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of what did not build
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

type key struct{ pkg, test string }

type result struct {
	output strings.Builder
	state  string // the last action
}

// results collects what tests of the top level came to. What subtests print belongs to the test that they are of.
type results struct {
	out             io.Writer
	tests           map[key]*result
	passed, skipped int
	broken          int // packages that failed, and not because of a test that ended
}

func (r *results) take(e event) {
	name, _, isSub := strings.Cut(e.Test, "/")
	k := key{e.Package, name}
	t := r.tests[k]
	if t == nil {
		t = &result{}
		r.tests[k] = t
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		t.output.WriteString(e.Output)
	case "run":
		if !isSub {
			t.state = "run"
		}
	case "pass", "skip", "fail":
		switch {
		case e.Test == "":
			r.endPackage(e, t)
		case !isSub:
			r.endTest(e, k, t)
		}
	}
}

func (r *results) endTest(e event, k key, t *result) {
	t.state = e.Action
	switch e.Action {
	case "pass":
		r.passed++
		t.output.Reset()
	case "skip":
		r.skipped++
	case "fail":
		fmt.Fprintf(r.out, "%s %s:\n%s", k.pkg, k.test, t.output.String())
	}
}

func (r *results) endPackage(e event, t *result) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(r.out, "ok    %-50s %6.1fs\n", e.Package, e.Elapsed)
	case "fail":
		fmt.Fprintf(r.out, "FAIL  %-50s %6.1fs\n", e.Package, e.Elapsed)
		ended := false
		for k, one := range r.tests {
			if k.pkg != e.Package || k.test == "" {
				continue
			}
			ended = ended || one.state == "fail"
			if one.state == "run" { // it crashed, or ran out of time, and took others with it
				fmt.Fprintf(r.out, "%s %s did not end:\n%s", k.pkg, k.test, one.output.String())
				ended = false
				break
			}
		}
		if !ended {
			r.broken++
			fmt.Fprint(r.out, t.output.String())
		}
	}
	t.output.Reset()
}

// failed are the tests that failed, in order.
func (r *results) failed() (all []key) {
	for k, t := range r.tests {
		if k.test != "" && t.state == "fail" {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b key) int { return strings.Compare(a.pkg+" "+a.test, b.pkg+" "+b.test) })
	return all
}

// goTest runs the go command. That tests fail is no error of its own; that nothing could be run is one.
func goTest(args []string, each func(event)) error {
	program := os.Getenv("GO")
	if program == "" {
		program = "go"
	}
	cmd := exec.Command(program, append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	seen := false
	in := bufio.NewScanner(lines)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Println(in.Text())
			continue
		}
		seen = true
		each(e)
	}
	readErr := in.Err()
	if readErr != nil {
		_, _ = io.Copy(io.Discard, lines)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if readErr == nil && seen && errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	return errors.Join(readErr, err)
}
