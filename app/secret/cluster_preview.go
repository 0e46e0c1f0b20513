package secret

import (
	"math"

	"muster/app"
)

// Draft is a request with all of its defaults filled in.
type Draft struct {
	Template   *app.Template     `json:"-"`
	Asked      app.LayoutRequest `json:"-"` // with what parameters set
	Definition app.Definition    `json:"-"`
	Nodes      []app.PlanNode    `json:"-"`
	DnsSuffix  string            `json:"-"`
	Catalog    int64             `json:"-"` // the revision of the tenant's own entries that it was made by
}

// Most is what a layout costs per hour where its machines have to be of the dearest other hardware.
func (d Draft) Most(l app.Layout) (n float64) {
	for _, g := range l.Groups {
		n += float64(g.Count) * d.Definition.Highest(g.Hardware, d.Definition.FallbackHardware).CostPerHour
	}
	return math.Round(n*1e9) / 1e9
}
