package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func plainly(_, text string) string { return text }

// No line is wider than the window, none is wrapped, and what has room is whole.
func TestTablesFitTheWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SliceOfN(rapid.SampledFrom([]string{"NAME", "AGE>", "STATUS", "A LONG HEAD", "N>"}), 1, 7).Draw(t, "columns")
		x := NewTable(columns...)
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			var cells []string
			for range rapid.IntRange(1, len(columns)).Draw(t, "cells") {
				cells = append(cells, strings.Repeat(rapid.SampledFrom([]string{"a", "ü", "…"}).Draw(t, "letter"), rapid.IntRange(0, 60).Draw(t, "long")))
			}
			x.Add(cells...)
		}
		whole := x.Lines(0, plainly)
		width := rapid.IntRange(1, 200).Draw(t, "width")
		widest := 0
		for _, line := range whole {
			widest = max(widest, utf8.RuneCountInString(line))
		}
		lines := x.Lines(width, plainly)
		if len(lines) != len(whole) {
			t.Fatalf("%d lines of %d", len(lines), len(whole))
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > width || strings.Contains(line, "\n") {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
		total := -2
		for _, w := range x.widths() {
			total += w + 2
		}
		if total <= width && strings.Join(lines, "\n") != strings.Join(whole, "\n") {
			t.Fatalf("it has room in %d, and is\n%s\ninstead of\n%s", width, strings.Join(lines, "\n"), strings.Join(whole, "\n"))
		}
	})
}

func TestWhatATableLeavesOut(t *testing.T) {
	t.Parallel()
	x := NewTable("NAME", "COST>", "OWNER", "WAITING FOR")
	x.Add("web", "0.25", "ada", "Waiting for approval by a member of group finance.")
	x.Add("a-cluster-with-a-long-name", "12", "ada", "-")
	want := "NAME                        COST  OWNER  WAITING FOR\nweb                         0.25  ada    Waiting for approv…\na-cluster-with-a-long-name    12  ada    -"
	if got := strings.Join(x.Lines(60, plainly), "\n"); got != want {
		t.Errorf("it is\n%s\nand not\n%s", got, want)
	}
	if got := strings.Join(x.Lines(40, plainly), "\n"); !strings.Contains(got, "a-cluster-") || !strings.Contains(got, "0.25") || !strings.Contains(got, "…") {
		t.Error(got)
	}
}

// Colours are on terminals alone, unless someone says otherwise, and states have theirs.
func TestColoursAreWhereTheyAreWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		color string
		want  bool
	}{{"", false}, {ColorAuto, false}, {colorNever, false}, {colorAlways, true}} {
		var out bytes.Buffer
		x := NewTable("NAME", "STATUS", "MESSAGE")
		x.Add("web", "failed", "failed")
		x.Add("db", "active (resize 1/3)", "")
		x.Add("api", "active", "")
		if err := x.Show(&Context{Stdout: &out, Color: c.color}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "\x1b["); got != c.want {
			t.Errorf("--color %q: %q", c.color, out.String())
		}
		for _, part := range []string{"\x1b[1mNAME\x1b[0m", "\x1b[31mfailed\x1b[0m               failed\n", "\x1b[33mactive (resize 1/3)\x1b[0m\n", "\x1b[32mactive\x1b[0m\n"} {
			if c.want && !strings.Contains(out.String(), part) {
				t.Errorf("%q is not in %q", part, out.String())
			}
		}
	}
}
