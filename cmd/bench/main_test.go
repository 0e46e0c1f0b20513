package main

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

func quick(err error) func() func(context.Context) error {
	return func() func(context.Context) error { return func(context.Context) error { return err } }
}

func TestTheTableSaysWhatIsOverAndWhatIsWrong(t *testing.T) {
	var out bytes.Buffer
	held := []byte(nil)
	over, wrong, err := run(t.Context(), &out, []figure{
		{"fast", time.Hour, "someone else: 3 h", quick(nil)},
		{"slow", time.Nanosecond, "", func() func(context.Context) error {
			return func(context.Context) error { held = make([]byte, 1<<20); return nil }
		}},
		{"without a limit", 0, "", quick(nil)},
		{"mistaken", time.Hour, "", quick(errors.New("two and two are five"))},
	}, "", time.Millisecond)
	if err != nil || over != 1 || wrong != 1 || len(held) == 0 {
		t.Fatalf("%d over, %d wrong, %v", over, wrong, err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{"medians on 2 cores", "", "figure", "fast", "slow", "without a limit", "mistaken"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q", i, lines[i])
		}
	}
	for i, want := range map[int]string{3: "someone else: 3 h", 4: "OVER ITS LIMIT", 6: "WRONG: two and two are five"} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("%q does not say %q", lines[i], want)
		}
	}
}

func TestOneFigureCanBeChosen(t *testing.T) {
	var out bytes.Buffer
	if over, wrong, err := run(t.Context(), &out, figures(), "10 exclusive services, each at least 3", time.Millisecond); wrong > 0 || err != nil {
		t.Fatalf("%d over, %d wrong, %v\n%s", over, wrong, err, out.String())
	}
	if n := strings.Count(out.String(), "\n"); n != 4 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m, err := memory(func() error {
		var hold [][]byte
		for range 40 {
			hold = append(hold, make([]byte, 1<<20)) // 40 MB at once
		}
		runtime.KeepAlive(hold)
		return nil
	})
	if err != nil || m < 30<<20 || m > 80<<20 {
		t.Errorf("40 MB held at once are reported as %d MB, %v", m>>20, err)
	}
	m, _ = memory(func() error { runtime.KeepAlive(make([]byte, 1<<20)); return nil })
	if m < 1<<20 || m > 2<<20 {
		t.Errorf("1 MB is reported as %d bytes", m)
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]string{0: "0.000", 0.01234: "0.012", 0.5: "0.50", 3.14159: "3.1", 1234.5: "1234"} {
		if got := digits(x); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
}
