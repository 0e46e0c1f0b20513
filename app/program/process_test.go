//go:build unix

package program

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const hangs = 5 * time.Minute // reached only where something hangs

// life starts a shell script and returns what it wrote once it has ended.
type life struct {
	*Process
	lines, logs []string
	why         error
	up          chan struct{} // receives once the script has written "up", which isn't in lines
}

func begin(t *testing.T, script string, times Times, refuse string) *life {
	t.Helper()
	path := filepath.Join(t.TempDir(), "muster-thing-x")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := &life{up: make(chan struct{}, 1)}
	handler := func(p *Process) Handler {
		if p.PID == 0 {
			t.Error("the handler does not learn which process it is")
		}
		return Handler{
			Line: func(line []byte) error {
				if string(line) == refuse {
					return errors.New("refused")
				}
				if string(line) == "up" {
					l.up <- struct{}{}
					return nil
				}
				l.lines = append(l.lines, string(line))
				return nil
			},
			Over: func(why error) { l.why = why },
			Log:  func(line string) { l.logs = append(l.logs, line) },
		}
	}
	p, err := Start(path, []string{"A=b", "PATH=" + os.Getenv("PATH")}, times, handler)
	// A process that another test has just forked holds the script open for writing until it runs its own program.
	for end := time.Now().Add(time.Minute); errors.Is(err, syscall.ETXTBSY) && time.Now().Before(end); time.Sleep(time.Millisecond) {
		p, err = Start(path, []string{"A=b", "PATH=" + os.Getenv("PATH")}, times, handler)
	}
	if err != nil {
		t.Fatal(err)
	}
	l.Process = p
	t.Cleanup(func() { p.End(); l.wait(t) })
	return l
}

func (l *life) wait(t *testing.T) {
	t.Helper()
	select {
	case <-l.Ended():
	case <-time.After(hangs):
		t.Fatal("it continues")
	}
}

func TestProcess(t *testing.T) {
	patient, short := Times{hangs, hangs, hangs}, Times{hangs, 10 * time.Millisecond, 10 * time.Millisecond}
	for name, tc := range map[string]struct {
		script, refuse string
		times          Times
		kill           bool
		lines          string
		why            string // part of it
	}{
		"answers until its input ends":  {script: `while read -r l; do echo "$A $l"; done; echo end; echo`, times: patient, lines: "b one,end", why: "exit status 0"},
		"fails":                         {script: `read -r l; exit 3`, times: patient, why: "exit status 3"},
		"does not end with its input":   {script: `trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.01; done`, times: Times{hangs, 10 * time.Millisecond, hangs}, lines: "asked", why: "exit status 0"},
		"does not end when it is asked": {script: `trap '' TERM; echo up; sleep 1000 & wait; while :; do sleep 1; done`, times: short, why: "killed"},
		"is killed":                     {script: `trap '' TERM; echo up; sleep 1000`, times: patient, kill: true, why: "killed"},
		"writes what is refused":        {script: `echo a; echo b; trap '' TERM; sleep 1000`, refuse: "b", times: patient, lines: "a", why: "refused"},
		"closes its output":             {script: `exec >&-; trap '' TERM; sleep 1000`, times: patient, why: "closed its output"},
		"writes an endless line":        {script: `while printf '%65536s' x; do :; done`, times: patient, why: "longer than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, tc.script, tc.times, tc.refuse)
			if strings.Contains(tc.script, "echo up") { // before that, a signal ends it
				select {
				case <-l.up:
				case <-time.After(hangs):
					t.Fatal("the script doesn't begin")
				}
			}
			switch {
			case tc.kill:
				l.Kill()
			case tc.refuse != "" || strings.Contains(tc.why, "output") || strings.Contains(tc.why, "MiB"): // ends by itself
			default:
				if err := l.Write([]byte("one\n")); err != nil {
					t.Error(err)
				}
				l.End()
			}
			l.wait(t)
			if got := strings.Join(l.lines, ","); tc.lines != got && !tc.kill {
				t.Errorf("it wrote %q, want %q", got, tc.lines)
			}
			if l.why == nil || !strings.Contains(l.why.Error(), tc.why) {
				t.Errorf("it ended because %v, want %q", l.why, tc.why)
			}
			if err := l.Write([]byte("late\n")); err == nil {
				t.Error("what has ended is written to")
			}
		})
	}
}

func TestLogIsCut(t *testing.T) {
	l := begin(t, `printf '%10000s\nshort\n' x >&2; read -r l`, Times{hangs, hangs, hangs}, "")
	l.End()
	l.wait(t)
	if len(l.logs) != 2 || len(l.logs[0]) != LongestLog || l.logs[1] != "short" {
		t.Errorf("%d lines: %.60q", len(l.logs), l.logs)
	}
	if got := Tidy(" a\x1b[31mb\n\xff"+strings.Repeat("ä", 10), 12); got != "a [31mb  ä…" {
		t.Errorf("%q", got)
	}
}

func TestHost(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"muster-thing-own", "muster-thing-new", "muster-thing-bad", "README"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h := &Host[string]{Prefix: "muster-thing-", Family: "things", Each: "a thing", Own: func(name string) bool { return name == "own" }, Inquire: inquireFake}
	for again, want := range [][]string{{"it is bad", "", "a thing \"own\" already exists"}, {"it is bad", "a thing \"new\" already exists", "a thing \"own\" already exists"}} {
		found, err := h.Plug(t.Context(), dir, nil, nil)
		if err != nil || len(found) != 3 {
			t.Fatalf("%+v, %v", found, err)
		}
		for i, p := range found {
			if (p.Err == nil) != (want[i] == "") || p.Err != nil && !strings.Contains(p.Err.Error(), want[i]) {
				t.Errorf("time %d: %s: %v, want %q", again, p.Name, p.Err, want[i])
			}
		}
	}
	path := filepath.Join(dir, "muster-thing-new")
	if m, ok := h.Member("new"); !ok || m != path || !slices.Equal(h.Names(), []string{"new"}) || !h.IsPlugged("new", path) || h.IsPlugged("new", "/x") || h.IsPlugged("own", "") {
		t.Errorf("%q, %v: %v", m, ok, h.Names())
	}
	if _, err := h.Plug(t.Context(), filepath.Join(dir, "none"), nil, nil); err == nil || !strings.Contains(err.Error(), "directory of things programs") {
		t.Error(err)
	}
}

func inquireFake(_ context.Context, name, path string, _ []string, _ *slog.Logger) (string, error) {
	if name == "bad" {
		return "", errors.New("it is bad")
	}
	return path, nil
}
