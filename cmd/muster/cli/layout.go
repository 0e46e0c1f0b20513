package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
	"muster/app/layout"
)

// layoutJSON is the output of solve; its format is stable.
type layoutJSON struct {
	Groups      []layout.NodeGroup `json:"layout"`
	CostPerHour float64            `json:"cost_per_hour"`
	Currency    string             `json:"currency,omitempty"`
	Gap         float64            `json:"gap,omitempty"`
}

func LayoutForm(l layout.Layout) layoutJSON {
	out := layoutJSON{Groups: make([]layout.NodeGroup, 0, len(l.Groups)), CostPerHour: l.CostPerHour, Currency: l.Currency, Gap: l.Gap}
	for _, g := range l.Groups {
		g.Services = OrNone(g.Services)
		out.Groups = append(out.Groups, g)
	}
	return out
}

// OrNone makes a nil list an empty one, so that JSON shows [] instead of null.
func OrNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// gridWidth is the width at which a layout's grid wraps its columns.
const gridWidth = 120

// PrintLayout draws services by nodes: a row for each service, a column for each group of equal nodes.
func PrintLayout(w io.Writer, template string, l layout.Layout) error {
	title := fmt.Sprintf("%s: %s on %s", template, humanize.Count(l.Size(), "node"), l.Provider)
	if l.CostPerHour > 0 {
		title += fmt.Sprintf(", %s per hour", l.Price())
	}
	if _, err := fmt.Fprintf(w, "%s\n", title); err != nil {
		return err
	}
	rows, columns := rowsOf(l), columnsOf(l)
	for len(columns) > 0 {
		n := fitting(rows, columns)
		if err := printGrid(w, rows, columns[:n]); err != nil {
			return err
		}
		columns = columns[n:]
	}
	if len(l.Notes) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nWhy this layout:\n  - %s\n", strings.Join(l.Notes, "\n  - "))
	return err
}

// column is a group of equal nodes with the names of those nodes.
type column struct {
	head string
	layout.NodeGroup
}

func columnsOf(l layout.Layout) (out []column) {
	first := 1
	for _, g := range l.Groups {
		out = append(out, column{nodeRange(first, g.Count), g})
		first += g.Count
	}
	return out
}

// gridRow is a row of the grid: its heading, and its value in each column.
type gridRow struct {
	name string
	cell func(column) string
}

// rowsOf returns the attributes of each group and, after an empty row, its services. Zones and hosts appear only if there are any.
func rowsOf(l layout.Layout) []gridRow {
	rows := []gridRow{
		{"hardware", func(c column) string { return c.Hardware }},
		{"image", func(c column) string { return c.Image }},
	}
	if slices.ContainsFunc(l.Groups, func(g layout.NodeGroup) bool { return g.Zone != "" }) {
		rows = append(rows, gridRow{"zone", func(c column) string { return c.Zone }})
	}
	if slices.ContainsFunc(l.Groups, func(g layout.NodeGroup) bool { return g.Host != "" }) {
		rows = append(rows, gridRow{"host", func(c column) string { return c.Host }})
	}
	rows = append(rows, gridRow{"cost per hour", func(c column) string { return humanize.Price(c.CostPerHour, l.Currency) }})
	rows = append(rows, gridRow{"", func(column) string { return "" }})
	services := map[string]bool{}
	for _, g := range l.Groups {
		for _, s := range g.Services {
			services[s] = true
		}
	}
	for _, s := range SortedKeys(services) {
		rows = append(rows, gridRow{s, func(c column) string {
			return map[bool]string{true: "●", false: "·"}[slices.Contains(c.Services, s)]
		}})
	}
	return rows
}

// fitting returns how many columns fit into the grid's width, at least one.
func fitting(rows []gridRow, columns []column) int {
	width := 0
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r.name))
	}
	for i, c := range columns {
		own := utf8.RuneCountInString(c.head)
		for _, r := range rows {
			own = max(own, utf8.RuneCountInString(r.cell(c)))
		}
		if width += 2 + own; i > 0 && width > gridWidth {
			return i
		}
	}
	return len(columns)
}

func printGrid(w io.Writer, rows []gridRow, columns []column) error {
	heads := []string{""}
	for _, c := range columns {
		heads = append(heads, c.head)
	}
	t := NewTable(heads...)
	for _, r := range rows {
		cells := []string{r.name}
		for _, c := range columns {
			cells = append(cells, r.cell(c))
		}
		t.Add(cells...)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return t.Write(w)
}

// nodeRange names count nodes from the first-th on: n3, or n3-n7 (5).
func nodeRange(first, count int) string {
	if count == 1 {
		return app.NodeName(first)
	}
	return fmt.Sprintf("%s-%s (%d)", app.NodeName(first), app.NodeName(first+count-1), count)
}

func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
