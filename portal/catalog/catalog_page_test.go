package catalog

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestColouredYAMLKeepsItsText(t *testing.T) {
	words := func(text string) (out string) {
		for _, l := range YAMLWords(text) {
			for _, w := range l {
				out += w.Text
			}
			out += "\n"
		}
		return strings.TrimSuffix(out, "\n")
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a: |\n  x: %ip.self%\n\n  # no\n", "- {b: 3, c: 'd'} # e\n", "\"k\": ${secret:A}\n", "---\n"}))).Draw(t, "parts")
		text := strings.Join(parts, "")
		if got := words(text); got != strings.TrimSuffix(text, "\n") {
			t.Fatalf("%q became %q", text, got)
		}
	})
	lines := YAMLWords("port: 80 # usual\nscript: |\n  a: b\nurl: http://%ip.self%/\nlist: [a, {x: true}]")
	for _, c := range []struct {
		line        int
		class, text string
	}{{0, "k", "port"}, {0, "n", "80"}, {0, "c", " # usual"}, {2, "s", "  a: b"}, {3, "m", "%ip.self%"}, {4, "k", "x"}, {4, "n", "true"}} {
		found := false
		for _, w := range lines[c.line] {
			found = found || w == Word{c.class, c.text}
		}
		if !found {
			t.Errorf("line %d lacks %s %q: %q", c.line, c.class, c.text, lines[c.line])
		}
	}
}

// TestDiffsLeadFromOneTextToTheOther takes out what a diff says is gone and puts in what it says is new.
func TestDiffsLeadFromOneTextToTheOther(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c: 1", "", "  d"})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(line, 0, 30).Draw(t, "a"), rapid.SliceOfN(line, 0, 30).Draw(t, "b")
		var old, now []string
		same := 0
		for _, e := range edits(a, b) {
			switch e.sign {
			case "-":
				old = append(old, a[e.old])
			case "+":
				now = append(now, b[e.new])
			default:
				same++
				if a[e.old] != b[e.new] {
					t.Fatalf("lines %d and %d are not the same", e.old, e.new)
				}
				old, now = append(old, a[e.old]), append(now, b[e.new])
			}
		}
		if strings.Join(old, "\n") != strings.Join(a, "\n") || strings.Join(now, "\n") != strings.Join(b, "\n") {
			t.Fatalf("%q and %q, not %q and %q", old, now, a, b)
		}
		if best := longestCommon(a, b); same != best {
			t.Fatalf("%d lines are kept of %d that could be", same, best)
		}
	})
}

func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			was := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = was
		}
	}
	return row[len(b)]
}

func TestHunksShowWhatIsNearAChange(t *testing.T) {
	var a []string
	for i := range 40 {
		a = append(a, strings.Repeat("x", i+1))
	}
	b := append([]string{}, a...)
	b[5], b[30] = "other", "another"
	d := newDiff(strings.Join(a, "\n"), strings.Join(b, "\n"))
	if len(d.Hunks) != 2 || d.Added != 2 || d.Removed != 2 || len(d.Hunks[0]) != 8 || d.Hunks[1][0].Old != 28 {
		t.Fatalf("%+v", d)
	}
	if d = newDiff("a\n", "a"); len(d.Hunks) != 0 {
		t.Fatalf("%+v", d)
	}
	if d = newDiff("", "a\nb\n"); d.Added != 2 || d.Removed != 0 {
		t.Fatalf("%+v", d)
	}
}
