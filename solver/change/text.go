package change

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/app/humanize"
	"muster/app/layout"
)

// Text writes a change as a grid of nodes by services, for people: + is put there, - is taken away, x stays.
// Neighbours to which nothing happens, and which are alike, share a line.
func Text(w io.Writer, ch layout.Change) {
	services := map[string]bool{}
	var rows []changeRow
	stay := 0
	for _, n := range ch.Nodes {
		for _, s := range slices.Concat(n.Removed, n.Services) {
			services[s] = true
		}
		if !n.Deleted {
			stay++
		}
		r := changeRow{node: n, last: n.Name}
		if k := len(rows) - 1; k >= 0 && r.quiet() && rows[k].quiet() && sameButName(rows[k].node, n) {
			rows[k].last, rows[k].more = n.Name, rows[k].more+1
			continue
		}
		rows = append(rows, r)
	}
	head := sortedKeys(services)
	table := [][]string{append([]string{"", "node", "hardware", "image", "zone"}, head...)}
	table[0] = append(table[0], "")
	for _, r := range rows {
		table = append(table, r.cells(head))
	}
	writeTable(w, table)
	fmt.Fprintf(w, "\n%s afterwards, %s affected", humanize.Count(stay, "node"), humanize.Count(ch.Touched, "machine"))
	if ch.CostPerHour > 0 {
		fmt.Fprintf(w, ", %s per hour", humanize.Price(ch.CostPerHour, ch.Currency))
	}
	fmt.Fprintln(w)
	if ch.Unproven {
		fmt.Fprintln(w, "Too many options to check them all. A change that affects fewer machines may exist.")
	}
}

// changeRow is one line: a node, or some that follow each other and stay as they are.
type changeRow struct {
	node layout.ChangedNode
	last string
	more int
}

func (r changeRow) quiet() bool {
	return !r.node.New && !r.node.Deleted && len(r.node.Added)+len(r.node.Removed) == 0 && r.node.Why == ""
}

func sameButName(a, b layout.ChangedNode) bool {
	return a.Hardware == b.Hardware && a.Image == b.Image && a.Zone == b.Zone &&
		strings.Join(a.Services, "\x00") == strings.Join(b.Services, "\x00")
}

func (r changeRow) cells(head []string) []string {
	n := r.node
	mark := " "
	switch {
	case n.New:
		mark = "+"
	case n.Deleted:
		mark = "-"
	case !r.quiet():
		mark = "~"
	}
	name := n.Name
	if r.more > 0 {
		name = fmt.Sprintf("%s..%s (%d)", n.Name, r.last, r.more+1)
	}
	has := map[string]string{}
	for _, s := range n.Services {
		has[s] = "x"
		if n.Deleted {
			has[s] = "-"
		}
	}
	for _, s := range n.Added {
		has[s] = "+"
	}
	for _, s := range n.Removed {
		has[s] = "-"
	}
	out := []string{mark, name, n.Hardware, n.Image, n.Zone}
	for _, s := range head {
		if has[s] == "" {
			has[s] = "."
		}
		out = append(out, has[s])
	}
	return append(out, n.Why)
}

// writeTable lines columns up, leaves empty ones out, and ends no line with blanks.
func writeTable(w io.Writer, table [][]string) {
	width := make([]int, len(table[0]))
	for i, row := range table {
		for c, cell := range row {
			if i > 0 && strings.TrimSpace(cell) == "" {
				continue
			}
			if i > 0 || c != 4 { // a heading alone does not make a column
				width[c] = max(width[c], len([]rune(cell)))
			}
		}
	}
	for c := range width {
		if width[c] > 0 {
			width[c] = max(width[c], len([]rune(table[0][c])))
		}
	}
	for _, row := range table {
		var line strings.Builder
		for c, cell := range row {
			if width[c] > 0 {
				fmt.Fprintf(&line, "%-*s  ", width[c], cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
