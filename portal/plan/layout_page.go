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
	g := Grid{Columns: 40, Per: (r.Count + maxGridCells - 1) / maxGridCells}
	cells := (r.Count + g.Per - 1) / g.Per
	g.Rows = (cells + g.Columns - 1) / g.Columns
	g.Last = cells - (g.Rows-1)*g.Columns
	return g
}

// Large reports whether a group is drawn as a grid.
func (r Rack) Large() bool { return r.Count > rackTiles }

// Names is the range of node names.
func (r Rack) Names() string {
	if r.Count == 1 {
		return r.First
	}
	return r.First + "–" + r.Last
}

// Rest is how many machines aren't drawn.
func (r Rack) Rest() int { return r.Count - r.Tiles() }

// Tiles is how many machines are drawn.
func (r Rack) Tiles() int { return min(r.Count, rackTiles) }

// rackTiles is the most machines of a group that are drawn one by one.
const rackTiles = 48

// Grid draws a large group of machines as a pattern of equal cells, so that the page stays small.
type Grid struct {
	Columns, Rows, Last int // Last is how many cells the last row has
	Per                 int // machines for each cell
}

func (g Grid) viewBox() string {
	return "0 0 " + strconv.Itoa(g.Columns*gridPitch) + " " + strconv.Itoa(g.Rows*gridPitch)
}

// maxGridCells is the most cells of a grid; in larger groups, each is several machines.
const maxGridCells = 1200

// gridPitch is the distance between cells, in the picture's units.
const gridPitch = 10

func pitches(n int) string { return strconv.Itoa(n * gridPitch) }

// stripe is the position and height of the mark of service i of n within a cell.
func stripe(i, n int) (y, height string) {
	h := 6.0 / float64(max(n, 1))
	return page.Decimal(1 + float64(i)*h), page.Decimal(h)
}
