package cli

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// Terminal colors for additions, removals and changes; good, bad and busy states use the same.
const (
	ColourComes   = "32"
	ColourGoes    = "31"
	ColourChanges = "33"
	ColourHead    = "1" // bold
)

// Values of --color.
const (
	ColorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	if v, ok := stream.(*visible); ok {
		stream = v.w
	}
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Moves reports whether a stream is a terminal with a movable cursor.
func Moves(w io.Writer) bool { return IsTerminal(w) && os.Getenv("TERM") != "dumb" }

// Colours reports whether to use color on a stream: as --color says, else on terminals, unless NO_COLOR is set (https://no-color.org).
func (c *Context) Colours(w io.Writer) bool {
	switch c.Color {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return Moves(w) && os.Getenv("NO_COLOR") == ""
}

// Painter returns a function that colors text if color is on.
func (c *Context) Painter(w io.Writer) func(colour, text string) string {
	if !c.Colours(w) {
		return func(_, text string) string { return text }
	}
	return func(colour, text string) string {
		if colour == "" || text == "" {
			return text
		}
		return Control(w, "\x1b["+colour+"m") + text + Control(w, "\x1b[0m")
	}
}

// CheckScreen rejects an unknown --color.
func (c *Context) CheckScreen() error {
	switch c.Color {
	case "", ColorAuto, colorAlways, colorNever:
		return nil
	}
	asked := c.Color
	c.Color = colorNever
	return Usagef("invalid --color %s", asked).Hint("Choose one of: auto, always, never.")
}

// Table lays out rows in columns, two spaces apart. Columns whose name ends in ">" are right-aligned.
type Table struct {
	Rows  [][]string
	right []bool
}

func NewTable(columns ...string) *Table {
	t := &Table{}
	head := make([]string, len(columns))
	for i, name := range columns {
		head[i] = strings.TrimSuffix(name, ">")
		t.right = append(t.right, head[i] != name)
	}
	t.Add(head...)
	return t
}

func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = InLine(cell)
	}
	t.Rows = append(t.Rows, row)
}

// Show writes the table as the command's output: on a terminal fitted to its width, unless --wide is set, and with color if on;
// elsewhere whole and plain.
func (t *Table) Show(c *Context) error {
	width := 0
	if IsTerminal(c.Stdout) && !c.Wide {
		width = TerminalWidth(c.Stdout)
	}
	return t.print(c.Stdout, width, c.Painter(c.Stdout))
}

// Write writes the table whole and plain.
func (t *Table) Write(w io.Writer) error {
	return t.print(w, 0, func(_, text string) string { return text })
}

func (t *Table) print(w io.Writer, width int, paint func(colour, text string) string) error {
	_, err := io.WriteString(w, strings.Join(append(t.Lines(width, paint), ""), "\n"))
	return err
}

// leastColumn is the narrowest a text column becomes before lines are cut at their end.
const leastColumn = 8

// Lines returns the table line by line, none wider than width cells; 0 is unlimited. Nothing is wrapped: text that doesn't fit ends in …,
// in the widest text columns first, and of equal ones the rightmost; the first column, which names the row, is cut last.
// Each character counts as one cell.
func (t *Table) Lines(width int, paint func(colour, text string) string) []string {
	widths := t.widths()
	if width > 0 {
		t.fit(widths, width)
	}
	out := make([]string, 0, len(t.Rows))
	for n, row := range t.Rows {
		var line strings.Builder
		room := width
		for i, cell := range row {
			gap := min(i, 1) * 2
			if width > 0 {
				if room -= gap; room <= 0 {
					break
				}
			}
			cell = Cut(cell, widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			right := i < len(t.right) && t.right[i]
			if right {
				cell = pad + cell
			} else if i < len(row)-1 {
				cell += pad
			}
			if width > 0 {
				cell = Cut(cell, room)
				room -= utf8.RuneCountInString(cell)
			}
			colour := ColourHead
			if n > 0 {
				colour = stateColour(t.Rows[0], i, row[i])
			}
			line.WriteString(strings.Repeat(" ", gap))
			text := strings.TrimRight(cell, " ")
			line.WriteString(paint(colour, text) + cell[len(text):])
		}
		out = append(out, strings.TrimRight(line.String(), " "))
	}
	return out
}

func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.Rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// fit narrows text columns until all columns fit.
func (t *Table) fit(widths []int, width int) {
	total := 2 * max(len(widths)-1, 0)
	for _, w := range widths {
		total += w
	}
	least := func(i int) int {
		if i >= len(t.Rows[0]) {
			return leastColumn
		}
		return max(leastColumn, utf8.RuneCountInString(t.Rows[0][i]))
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

// Cut shortens a text to at most so many characters; a shortened one ends in ….
func Cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	if most <= 0 {
		return ""
	}
	return string([]rune(text)[:most-1]) + "…"
}

// stateColour is the color of a cell with a state.
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
			return ColourChanges
		}
		return ColourComes
	case "failed", "unhealthy", "lost", "refused", "denied", "stopped", "broken", "revoked", "expired":
		return ColourGoes
	case "pending", "running", "waiting", "paused", "cancelling", "making", "draining", "leaving", "asked", "queued":
		return ColourChanges
	}
	return ""
}
