package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// The colours of what comes, goes and changes, as terminals know them; good, bad and busy states have the same.
const (
	colourComes   = "32"
	colourGoes    = "31"
	colourChanges = "33"
	colourHead    = "1" // bold
)

// How --color may be said.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// isTerminal tells whether a stream is a terminal that a person sits at.
func isTerminal(stream any) bool {
	if v, ok := stream.(*visible); ok {
		stream = v.w
	}
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// moves tells whether a stream is a terminal on which the cursor can be moved.
func moves(w io.Writer) bool { return isTerminal(w) && os.Getenv("TERM") != "dumb" }

// colours tells whether what is written to a stream shall be coloured: as --color says, else on terminals, unless NO_COLOR is set
// (https://no-color.org).
func (c *cli) colours(w io.Writer) bool {
	switch c.color {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return moves(w) && os.Getenv("NO_COLOR") == ""
}

// painter gives a function that colours text where colours are shown, and leaves it as it is elsewhere.
func (c *cli) painter(w io.Writer) func(colour, text string) string {
	if !c.colours(w) {
		return func(_, text string) string { return text }
	}
	return func(colour, text string) string {
		if colour == "" || text == "" {
			return text
		}
		return control(w, "\x1b["+colour+"m") + text + control(w, "\x1b[0m")
	}
}

// checkScreen refuses a --color that nobody knows.
func (c *cli) checkScreen() error {
	switch c.color {
	case "", colorAuto, colorAlways, colorNever:
		return nil
	}
	asked := c.color
	c.color = colorNever
	return usagef("--color %s is not known", asked).hint("Use one of: auto, always, never.")
}

// table lays out rows in columns, two spaces apart. Columns whose name ends in ">" are set to the right.
type table struct {
	rows  [][]string
	right []bool
}

func newTable(columns ...string) *table {
	t := &table{}
	head := make([]string, len(columns))
	for i, name := range columns {
		head[i] = strings.TrimSuffix(name, ">")
		t.right = append(t.right, head[i] != name)
	}
	t.add(head...)
	return t
}

func (t *table) add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = inLine(cell)
	}
	t.rows = append(t.rows, row)
}

// show writes the table as the command's answer: on a terminal as wide as that is, unless --wide is said, and with colours where those are
// shown; elsewhere whole and plain.
func (t *table) show(c *cli) error {
	width := 0
	if isTerminal(c.stdout) && !c.wide {
		width = terminalWidth(c.stdout)
	}
	return t.print(c.stdout, width, c.painter(c.stdout))
}

// write writes the table whole and plain.
func (t *table) write(w io.Writer) error {
	return t.print(w, 0, func(_, text string) string { return text })
}

func (t *table) print(w io.Writer, width int, paint func(colour, text string) string) error {
	_, err := io.WriteString(w, strings.Join(append(t.lines(width, paint), ""), "\n"))
	return err
}

// leastColumn is how narrow a column of text becomes before lines are cut at their end.
const leastColumn = 8

// lines gives the table line by line, none wider than width cells; 0 is as wide as it needs. Nothing is wrapped: what has no room ends in …,
// the widest columns of text first, and of equal ones that further to the right; the first column, which names the thing, comes last.
// Characters are taken for one cell each.
func (t *table) lines(width int, paint func(colour, text string) string) []string {
	widths := t.widths()
	if width > 0 {
		t.fit(widths, width)
	}
	out := make([]string, 0, len(t.rows))
	for n, row := range t.rows {
		var line strings.Builder
		room := width
		for i, cell := range row {
			gap := min(i, 1) * 2
			if width > 0 {
				if room -= gap; room <= 0 {
					break
				}
			}
			cell = cut(cell, widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			right := i < len(t.right) && t.right[i]
			if right {
				cell = pad + cell
			} else if i < len(row)-1 {
				cell += pad
			}
			if width > 0 {
				cell = cut(cell, room)
				room -= utf8.RuneCountInString(cell)
			}
			colour := colourHead
			if n > 0 {
				colour = stateColour(t.rows[0], i, row[i])
			}
			line.WriteString(strings.Repeat(" ", gap))
			text := strings.TrimRight(cell, " ")
			line.WriteString(paint(colour, text) + cell[len(text):])
		}
		out = append(out, strings.TrimRight(line.String(), " "))
	}
	return out
}

func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// fit narrows columns of text until all have room.
func (t *table) fit(widths []int, width int) {
	total := 2 * max(len(widths)-1, 0)
	for _, w := range widths {
		total += w
	}
	least := func(i int) int {
		if i >= len(t.rows[0]) {
			return leastColumn
		}
		return max(leastColumn, utf8.RuneCountInString(t.rows[0][i]))
	}
	for ; total > width; total-- {
		widest := -1
		for i, w := range widths {
			if i == 0 || i < len(t.right) && t.right[i] || w <= least(i) {
				continue
			}
			if widest < 0 || w >= widths[widest] {
				widest = i
			}
		}
		if widest < 0 && len(widths) > 0 && widths[0] > least(0) {
			widest = 0
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// cut gives a text of at most so many characters, the last of which is … where something is left out.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	if most <= 0 {
		return ""
	}
	return string([]rune(text)[:most-1]) + "…"
}

// stateColour is the colour of a cell that says how something is.
func stateColour(head []string, column int, cell string) string {
	if column >= len(head) {
		return ""
	}
	switch head[column] {
	case "STATUS", "STATE", "HEALTH", "MODE":
	default:
		return ""
	}
	word, _, busy := strings.Cut(cell, " ")
	switch word {
	case "active", "ready", "healthy", "succeeded", "approved", "done", "on":
		if busy && strings.HasPrefix(cell, word+" (") {
			return colourChanges
		}
		return colourComes
	case "failed", "sick", "lost", "refused", "denied", "stopped", "broken", "revoked", "expired":
		return colourGoes
	case "pending", "running", "waiting", "paused", "cancelling", "making", "draining", "leaving", "asked", "queued":
		return colourChanges
	}
	return ""
}
