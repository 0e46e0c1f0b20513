package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// comparison runs the bench of another commit and this one in turn.
type comparison struct {
	dir  string // of the repository; "": the working directory
	base string // a commit
	self string // this program
	args []string
	runs int
	out  io.Writer
}

func (c comparison) run(ctx context.Context) (err error) {
	temp, err := os.MkdirTemp("", "muster-bench-base-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	tree := filepath.Join(temp, "tree")
	if _, err := c.command(ctx, c.dir, "git", "worktree", "add", "--quiet", "--detach", tree, c.base); err != nil {
		return err
	}
	defer func() { // even after an interrupt
		_, e := c.command(context.WithoutCancel(ctx), c.dir, "git", "worktree", "remove", "--force", tree)
		err = errors.Join(err, e)
	}()
	old := filepath.Join(temp, "bench")
	if _, err := c.command(ctx, tree, cmp.Or(os.Getenv("GO"), "go"), "build", "-tags", "real", "-o", old, "./cmd/bench"); err != nil {
		return err
	}
	help, _ := exec.CommandContext(ctx, old, "-help").CombinedOutput() // exits with an error in old versions of flag
	for _, flag := range []string{"-json", "-alone"} {
		if !bytes.Contains(help, []byte("\n  "+flag)) {
			return fmt.Errorf("the bench of %s has no %s, so it can't be compared", c.base, flag)
		}
	}
	var before, after results
	for i := range c.runs {
		fmt.Fprintf(c.out, "run %d of %d of each\n", i+1, c.runs)
		if err := c.measure(ctx, old, tree, temp, &before); err != nil {
			return fmt.Errorf("%s: %w", c.base, err)
		}
		if err := c.measure(ctx, c.self, c.dir, temp, &after); err != nil {
			return err
		}
	}
	c.print(before, after)
	return nil
}

// command runs a program, whose output is part of an error.
func (c comparison) command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, nil
}

// results are the figures of several runs, in the order of the first one.
type results struct {
	order  []string
	byName map[string][]figure
}

func (c comparison) measure(ctx context.Context, program, dir, temp string, into *results) error {
	file := filepath.Join(temp, "figures.json")
	cmd := exec.CommandContext(ctx, program, append([]string{"-runs", "1", "-alone", "-json", file}, c.args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second // it deletes its files
	cmd.Env = append(os.Environ(), "MUSTER_BENCH_POSTGRES=")                                             // only the first run would find it empty
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, wrongLines(out.String()))
	}
	return into.read(file)
}

func wrongLines(out string) string {
	var wrong []string
	for line := range strings.Lines(out) {
		if strings.Contains(line, "WRONG") {
			wrong = append(wrong, strings.TrimSpace(line))
		}
	}
	return strings.Join(wrong, "; ")
}

// read adds the figures of a file.
func (r *results) read(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if r.byName == nil {
		r.byName = map[string][]figure{}
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for first := true; lines.Scan(); first = false {
		if first { // about the machine
			continue
		}
		var g figure
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if r.byName[g.Name] == nil {
			r.order = append(r.order, g.Name)
		}
		r.byName[g.Name] = append(r.byName[g.Name], g)
	}
	return lines.Err()
}

func (r results) values(name string) (all []float64) {
	for _, f := range r.byName[name] {
		value, _, _ := f.judged()
		all = append(all, value)
	}
	return all
}

// fewestToTell is from how many runs on it means something that all runs of one are below all of the other: with three of each, chance alone
// does that in one of ten cases, with four in one of 35, and with five in one of 126.
const fewestToTell = 4

func (c comparison) print(before, after results) {
	const layout = "%-85s %9s %9s %-3s %7s  %s\n"
	fmt.Fprintf(c.out, layout, "figure, medians of "+fmt.Sprint(c.runs), c.base, "now", "", "ratio", "")
	for _, name := range after.order {
		old, now := before.values(name), after.values(name)
		if len(old) == 0 {
			fmt.Fprintf(c.out, "%-85s is new\n", name)
			continue
		}
		_, unit, _ := after.byName[name][0].judged()
		a, b := median(old), median(now)
		ratio := "-"
		if a != 0 {
			ratio = digits(b / a)
		}
		fmt.Fprintf(c.out, layout, name, digits(a), digits(b), unit, ratio, verdict(old, now))
	}
	for _, name := range before.order {
		if after.byName[name] == nil {
			fmt.Fprintf(c.out, "%-85s isn't measured any more\n", name)
		}
	}
}

// verdict says whether runs differ by more than they do among themselves.
func verdict(old, now []float64) string {
	spread := fmt.Sprintf("(%s to %s, now %s to %s)", digits(slices.Min(old)), digits(slices.Max(old)), digits(slices.Min(now)), digits(slices.Max(now)))
	switch {
	case min(len(old), len(now)) < fewestToTell:
		return fmt.Sprintf("too few runs to tell %s", spread)
	case slices.Max(now) < slices.Min(old):
		return "LOWER, beyond the spread " + spread
	case slices.Min(now) > slices.Max(old):
		return "HIGHER, beyond the spread " + spread
	}
	return "within the spread " + spread
}
