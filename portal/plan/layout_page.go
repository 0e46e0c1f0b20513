package plan

import (
	"strconv"

	"muster/portal/page"
)

// Rack is a group of equal nodes in the picture of a layout.
type Rack struct {
	Count           int
	First, Last     string
	Hardware, Image string
	Zone            string
	Services        []page.Hue
	Cost            float64 // per hour, of all nodes of the group
}

// Grid returns the picture of a group that is too large for tiles.
func (r Rack) Grid() Grid {
	g := Grid{Columns: 40, Per: (r.Count + mostGridCells - 1) / mostGridCells}
	cells := (r.Count + g.Per - 1) / g.Per
	g.Rows = (cells + g.Columns - 1) / g.Columns
	g.Last = cells - (g.Rows-1)*g.Columns
	return g
}

// Large tells whether a group is drawn as a grid.
func (r Rack) Large() bool { return r.Count > rackTiles }

// Names says which nodes these are.
func (r Rack) Names() string {
	if r.Count == 1 {
		return r.First
	}
	return r.First + "–" + r.Last
}

// Rest is how many machines are not drawn.
func (r Rack) Rest() int { return r.Count - r.Tiles() }

// Tiles is how many machines are drawn, and Rest how many more there are.
func (r Rack) Tiles() int { return min(r.Count, rackTiles) }

// rackTiles is how many machines of a group are drawn one by one.
const rackTiles = 48

// Grid is a large group of machines as a picture of equal cells, drawn as a pattern so that it weighs little.
type Grid struct {
	Columns, Rows, Last int // Last is how many cells the last row has
	Per                 int // machines for each cell
}

func (g Grid) viewBox() string {
	return "0 0 " + strconv.Itoa(g.Columns*gridPitch) + " " + strconv.Itoa(g.Rows*gridPitch)
}

// mostGridCells is how many machines of a large group are drawn; of a larger one, each stands for several.
const mostGridCells = 1200

// gridPitch is from one cell to the next, in the picture's units.
const gridPitch = 10

func pitches(n int) string { return strconv.Itoa(n * gridPitch) }

// stripe is where the mark of a cell's service i of n stands, and how high it is.
func stripe(i, n int) (y, height string) {
	h := 6.0 / float64(max(n, 1))
	return page.Decimal(1 + float64(i)*h), page.Decimal(h)
}
