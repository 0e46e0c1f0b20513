package executable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/program"
)

const hangs = 5 * time.Minute // reached only where something hangs

// shortTimes are those of programs that are wrong.
var shortTimes = times{describe: hangs, open: hangs, write: hangs, eof: 100 * time.Millisecond, term: 100 * time.Millisecond,
	steady: time.Hour, backoff: time.Hour, longest: 2 * time.Hour}

// journal is a log that can be read while it is written.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) { j.mu.Lock(); defer j.mu.Unlock(); return j.b.Write(b) }
func (j *journal) String() string              { j.mu.Lock(); defer j.mu.Unlock(); return j.b.String() }

// odd is a program that is wrong in one way, with the file that tells what it was asked.
func odd(t *testing.T, mode string, tm times) (Program, string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes")
	t.Setenv("MUSTER_TEST_PROGRAM", mode)
	t.Setenv("MUSTER_TEST_NOTES", notes)
	path := filepath.Join(dir, Prefix+"odd")
	script := fmt.Sprintf("#!/bin/sh\nexec '%s'\n", self)
	if err := errors.Join(os.WriteFile(path, []byte(script), 0o700), os.Chmod(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	p, err := inquire(t.Context(), "odd", path, []string{"MUSTER_TEST_PROGRAM", "MUSTER_TEST_NOTES"}, quiet(), tm)
	return p, notes, err
}

func oddAccount(t *testing.T, mode string) (a *account, notes string, log *journal) {
	t.Helper()
	p, notes, err := odd(t, mode, shortTimes)
	if err != nil {
		t.Fatal(err)
	}
	log = &journal{}
	a = open(p, "mine", map[string]any{"token": "very-secret"}, Env{Logger: slog.New(slog.NewTextHandler(log, nil))}, shortTimes)
	t.Cleanup(func() { _ = a.Close() })
	return a, notes, log
}

func asked(t *testing.T, notes, verb string) (n int) {
	t.Helper()
	b, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(b)) {
		if word == verb {
			n++
		}
	}
	return n
}

func wants(t *testing.T, err error, code app.Code, words ...string) {
	t.Helper()
	e := app.AsError(err)
	if err == nil || e.Code != code {
		t.Errorf("%v has the code %q, want %q", err, app.CodeOf(err), code)
	}
	for _, word := range words {
		if !strings.Contains(e.Error()+" "+e.Hint, word) {
			t.Errorf("%q does not say %q", e.Error(), word)
		}
	}
}

func TestOptionalVerbs(t *testing.T) {
	quick := shortTimes
	quick.describe = 200 * time.Millisecond
	for mode, c := range map[string]struct {
		code app.Code
		word string
	}{
		"mute":    {app.ETimeout, "didn't describe itself within"},
		"newer":   {app.EInvalid, "protocol version 2"},
		"babbles": {app.ETransient, "isn't a JSON object"},
	} {
		t.Run(mode, func(t *testing.T) {
			tm := shortTimes
			if mode == "mute" {
				tm = quick
			}
			_, _, err := odd(t, mode, tm)
			wants(t, err, c.code, c.word)
		})
	}
}

// A create that the program dies of is unclear, and is not sent again by us.
func TestCrashDuringARequest(t *testing.T) {
	a, notes, _ := oddAccount(t, "well")
	_, err := a.Create(t.Context(), family.MachineSpec{Intent: "i"})
	wants(t, err, app.ETransient, "is unknown", "exit status 3")
	if app.AsError(err).Reason != "unclear" {
		t.Errorf("reason %q", app.AsError(err).Reason)
	}
	if n := asked(t, notes, "create"); n != 1 {
		t.Errorf("create was sent %d times", n)
	}
	// After the first crash it is there again at once; after the second there is a rest.
	_, err = a.Create(t.Context(), family.MachineSpec{Intent: "i"})
	wants(t, err, app.ETransient, "is unknown")
	_, err = a.Create(t.Context(), family.MachineSpec{Intent: "i"})
	wants(t, err, app.ETransient, "2 times in a row", "restarts in 1 h")
	if e := app.AsError(err); e.RetryAfter < 59*time.Minute || asked(t, notes, "create") != 2 {
		t.Errorf("retry after %s, %d creates", e.RetryAfter, asked(t, notes, "create"))
	}
}

func TestCrashAtOpen(t *testing.T) {
	a, notes, _ := oddAccount(t, "dies")
	for range 2 {
		wants(t, a.Delete(t.Context(), "m"), app.ETransient, "exit status 5")
	}
	wants(t, a.Delete(t.Context(), "m"), app.ETransient, "in a row")
	if asked(t, notes, "delete") != 0 || asked(t, notes, "open") != 2 {
		t.Error("it was asked before it had its settings, or without a rest")
	}
}

func TestProtocolViolations(t *testing.T) {
	for mode, word := range map[string]string{"garbage": "isn't a JSON object", "endless": "longer than 16 MiB", "closes": "closed its output"} {
		t.Run(mode, func(t *testing.T) {
			a, _, _ := oddAccount(t, mode)
			wants(t, a.Delete(t.Context(), "m"), app.ETransient, word, "is unknown")
			_, err := a.List(t.Context(), nil) // another life
			wants(t, err, app.EInternal, "confused")
		})
	}
}

func TestInvalidResults(t *testing.T) {
	a, _, log := oddAccount(t, "strange")
	if err := a.Delete(t.Context(), "m"); err != nil {
		t.Errorf("an answer beside another one's: %v", err)
	}
	_, err := a.Describe(t.Context(), "m")
	wants(t, err, app.EInternal, `"another"`)
	if n := strings.Count(log.String(), "responded to an unknown request"); n != 1 {
		t.Errorf("%d words of an answer without a request:\n%s", n, log)
	}
}

// Who gives up waiting is answered at once, and the program is notified.
func TestUnresponsiveProgram(t *testing.T) {
	a, notes, _ := oddAccount(t, "silent")
	if _, err := a.List(t.Context(), nil); app.CodeOf(err) != app.EInternal {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := a.Delete(ctx, "m"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	for deadline := time.Now().Add(hangs); asked(t, notes, "cancel") == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it wasn't notified")
		}
	}
}

// One that does not read what it is asked keeps no one from giving up, nor Muster from ending.
func TestProgramThatStopsReading(t *testing.T) {
	a, _, _ := oddAccount(t, "deaf")
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if err := a.Delete(ctx, strconv.Itoa(i)+strings.Repeat("x", 10_000)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	began := time.Now()
	if err := a.Close(); err != nil || time.Since(began) > hangs/2 {
		t.Errorf("closed after %s: %v", time.Since(began), err)
	}
	wants(t, a.Delete(t.Context(), "m"), app.ECancelled, "closed")
}

func TestThousandConcurrentRequests(t *testing.T) {
	a, _, _ := oddAccount(t, "shuffles")
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			id := "m-" + strconv.Itoa(i)
			if m, err := a.Describe(t.Context(), id); err != nil || m.ID != id {
				t.Errorf("%s: %+v, %v", id, m, err)
			}
		})
	}
	all.Wait()
}

func TestSecretsAndEnvironment(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://someone:password@db/muster")
	a, _, log := oddAccount(t, "tells")
	err := a.Delete(t.Context(), "m")
	wants(t, err, app.ECredentials, "… is [31m refused")
	if e := app.AsError(err); e.RetryAfter != longestRetry || strings.ContainsRune(e.Message, 0x1b) {
		t.Errorf("%+v", e)
	}
	_ = a.Close()
	text := log.String()
	if strings.Contains(text, "very-secret") || !strings.Contains(text, "the token is …") || len(text) > 3*program.LongestLog {
		t.Errorf("the log has %d bytes:\n%.500s", len(text), text)
	}
	most := 2 // the test's own
	for _, name := range []string{"PATH", "HOME", "LANG"} {
		if os.Getenv(name) != "" {
			most++
		}
	}
	// A shell, in between, adds PWD and the like.
	if !slices.ContainsFunc([]int{0, 1, 2, 3}, func(more int) bool {
		return strings.Contains(text, fmt.Sprintf("environment %d arguments 1", most+more))
	}) {
		t.Errorf("it sees more than it should:\n%s", text)
	}
}

// What a program starts ends with it, even where it heeds neither the end of its input nor signals.
func TestClose(t *testing.T) {
	a, notes, _ := oddAccount(t, "stubborn")
	_, _ = a.List(t.Context(), nil)
	b, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(b)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			continue
		}
		for deadline := time.Now().Add(hangs); alive(pid); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d keeps running", pid)
			}
		}
	}
}

// alive reports whether a process runs; one that has ended and that no one has asked after does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(b), ") Z ")
}
