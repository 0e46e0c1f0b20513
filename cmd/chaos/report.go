//go:build unix

package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
)

// reporter tells what happens, to people and to a file.
type reporter struct {
	mu    sync.Mutex
	w     io.Writer
	file  *os.File
	began time.Time
}

func newReporter(w io.Writer, file string) (*reporter, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	return &reporter{w: w, file: f, began: time.Now()}, nil
}

func (r *reporter) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(r.w, text)
	fmt.Fprintf(r.file, "%s %s %s\n", time.Now().Format("15:04:05.000"), time.Since(r.began).Round(time.Millisecond), text)
}

func (r *reporter) note(text string) { r.say("  %s", text) }

func (r *reporter) close() { _ = r.file.Close() }

func (h *harness) say(format string, args ...any) { h.out.note(fmt.Sprintf(format, args...)) }

// line tells of one round.
func (h *harness) line(what string) {
	clusters, deletes := h.book.counts()
	h.out.say("%4d/%d  %-76s clusters %d, deleted %d; orders to the cloud %d", h.round, h.rounds, what, clusters, deletes, h.world.progress())
}

// readLogs looks for what no program under test may ever say.
func (h *harness) readLogs() {
	files, _ := filepath.Glob(filepath.Join(h.dir, "*.log"))
	secret := "\x00"
	if h.fake != nil {
		secret = h.fake.secret
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		text := string(b)
		for _, bad := range []string{"WARNING: DATA RACE", "\npanic: ", "\nfatal error: "} {
			if n := strings.Count(text, bad); n > 0 {
				h.book.blame(raced, fmt.Sprintf("%s has %q %s", f, strings.TrimSpace(bad), count(n, "time")))
			}
		}
		if strings.Contains(text, secret) || strings.Contains(text, "PRIVATE KEY") {
			h.book.blame(leakedSecret, f+" contains a secret")
		}
	}
}

// summary is the last that is said: what was done, and a row of zeros.
func (h *harness) summary(took time.Duration, wrongs []violation) {
	clusters, _ := h.book.counts()
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s in %s; seed %d\n", count(h.round, "round"), took.Round(time.Second), h.seed)
	for _, name := range slices.Sorted(maps.Keys(h.faults)) {
		fmt.Fprintf(&b, "  %-40s %6d\n", name, h.faults[name])
	}
	fmt.Fprintf(&b, "\n  %-40s %6d\n  %-40s %6d\n  %-40s %6d\n", "clusters", clusters, "steps done", h.tally.steps, "effects on nodes", h.tally.effects)
	fmt.Fprintf(&b, "  %-40s %6d\n", "late or duplicate machines found as orphans", h.tally.orphans)
	for _, s := range []app.OperationStatus{app.OperationSucceeded, app.OperationFailed, app.OperationCancelled} {
		fmt.Fprintf(&b, "  %-40s %6d\n", "operations "+string(s), h.tally.operations[s])
	}
	for _, k := range append([]app.OperationKind{app.OperationRollBack}, app.Updates...) {
		if n := h.tally.kinds[k]; n > 0 {
			fmt.Fprintf(&b, "  %-40s %6d\n", "  of these: "+string(k), n)
		}
	}
	b.WriteString("\n")
	for _, kind := range kinds {
		n := 0
		for _, w := range wrongs {
			if w.kind == kind {
				n++
			}
		}
		fmt.Fprintf(&b, "  %-40s %6d\n", kind, n)
	}
	for _, w := range wrongs[:min(len(wrongs), 40)] {
		fmt.Fprintf(&b, "\n%s: %s", w.kind, w.text)
	}
	h.out.say("%s", b.String())
}
