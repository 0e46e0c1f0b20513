package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const comparison = "docs/comparison.md"

var (
	capabilityRow  = regexp.MustCompile(`^\| (\d+) \| ([^|]+) \| [^|]+ \| (yes|partly|no)\b[^|]* \| ([^|]+) \|$`)
	capabilityLink = regexp.MustCompile(`\[([^]]+)\]\(\.\./([^)]+)\)`)
	capabilitySum  = regexp.MustCompile(`Of these\s+(\d+) capabilities, Muster has (\d+), has (\d+) in part, and lacks (\d+)\.`)
)

// Each row of the comparison that claims something links to a test that exists, and the numbers above the table are those of its rows.
func TestComparisonHasProof(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, comparison))
	if err != nil {
		t.Fatal(err)
	}
	rows, states := 0, make(map[string]int)
	for i, line := range strings.Split(string(raw), "\n") {
		m := capabilityRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at := fmt.Sprintf("%s:%d: %q", comparison, i+1, m[2])
		rows++
		states[m[3]]++
		if m[1] != strconv.Itoa(rows) {
			t.Errorf("%s has the number %s, want %d", at, m[1], rows)
		}
		links := capabilityLink.FindAllStringSubmatch(m[4], -1)
		if (m[3] == "no") != (len(links) == 0) {
			t.Errorf("%s is %q and links to %d tests; a capability has a test, and what is missing has none", at, m[3], len(links))
		}
		for _, l := range links {
			checkProof(t, at, l[1], l[2])
		}
	}
	want := []string{strconv.Itoa(rows), strconv.Itoa(states["yes"]), strconv.Itoa(states["partly"]), strconv.Itoa(states["no"])}
	if got := capabilitySum.FindStringSubmatch(string(raw)); rows == 0 || got == nil || strings.Join(got[1:], " ") != strings.Join(want, " ") {
		t.Errorf("%s: the sentence above the table says %q; its rows are %s: total, yes, partly, no", comparison, got, strings.Join(want, ", "))
	}
}

// checkProof checks that a link leads to a story, or to a file with the test that it names.
func checkProof(t *testing.T, at, name, file string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	switch {
	case err != nil:
		t.Errorf("%s: %v", at, err)
	case strings.HasSuffix(file, ".txtar"):
		if filepath.Base(file) != name+".txtar" {
			t.Errorf("%s: the link %q leads to the story %s", at, name, file)
		}
	case !strings.HasSuffix(file, "_test.go") || !strings.Contains(string(raw), "\nfunc "+name+"("):
		t.Errorf("%s: %s has no test %s", at, file, name)
	}
}
