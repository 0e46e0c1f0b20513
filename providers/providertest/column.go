package providertest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The table of checks is between these lines of docs/providers.md.
const (
	tableBegins = "<!-- written by make provider-checks -->\n\n"
	tableEnds   = "\n<!-- end -->"
	corner      = "check"
)

// compareColumn compares the column of the package being tested and its judge with the checks that applied. With MUSTER_WRITE_CHECKS set, it writes the column
// and leaves the others as they are; then only one package may be tested at a time.
func compareColumn(t *testing.T, judge string, checks []string, applied map[string]bool) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	member, above := strings.TrimSuffix(filepath.Base(dir), "real"), dir // the tests with a real OpenStack are in a package of their own
	for above != "/" && filepath.Base(above) != "providers" {
		above = filepath.Dir(above)
	}
	column := "`" + member + "` " + judge
	path := filepath.Join(above, "..", "docs", "providers.md")
	page, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there are no docs to compare with")
	}
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), tableBegins)
	old, after, found := strings.Cut(rest, tableEnds)
	if !found {
		t.Fatalf("%s has no table between %q and %q", path, tableBegins, tableEnds)
	}
	table := parseTable(old)
	table[column] = applied
	updated := writeTable(table, checks)
	switch {
	case updated == old:
	case os.Getenv("MUSTER_WRITE_CHECKS") == "":
		t.Errorf("The column %q of docs/providers.md differs from the checks that ran:\n%s\nRun `make provider-checks`.", column, updated)
	default:
		if err := os.WriteFile(path, []byte(before+tableBegins+updated+tableEnds+after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// parseTable returns the checks that apply, by column.
func parseTable(text string) map[string]map[string]bool {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	columns := cells(lines[0])
	table := map[string]map[string]bool{}
	for i, column := range columns {
		if i == 0 || column == "" {
			continue
		}
		table[column] = map[string]bool{}
		for _, line := range lines[min(2, len(lines)):] {
			if row := cells(line); len(row) == len(columns) && row[i] != "" {
				table[column][row[0]] = true
			}
		}
	}
	return table
}

func cells(line string) []string {
	out := strings.Split(strings.Trim(line, "|"), "|")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// writeTable writes a row per check, in their order, and the columns in alphabetical order.
func writeTable(table map[string]map[string]bool, checks []string) string {
	columns := make([]string, 0, len(table))
	for column := range table {
		columns = append(columns, column)
	}
	slices.Sort(columns)
	var out strings.Builder
	row := func(first, rest string) { out.WriteString("| " + first + " |" + rest + "\n") }
	row(corner, " "+strings.Join(columns, " | ")+" |")
	out.WriteString(strings.Repeat("|---", len(columns)+1) + "|\n")
	for _, check := range checks {
		rest := ""
		for _, column := range columns {
			rest += map[bool]string{true: " ✓ |", false: "  |"}[table[column][check]]
		}
		row(check, rest)
	}
	return out.String()
}
