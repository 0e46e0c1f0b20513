package cluster

import (
	"math"

	"muster/app/family"
	"muster/app/layout"
	"muster/app/plan"
	"muster/app/template"
)

// Draft is a request with all of its defaults filled in.
type Draft struct {
	Template   *template.Template `json:"-"`
	Asked      layout.Request     `json:"-"` // with what parameters set
	Definition Definition         `json:"-"`
	Nodes      []plan.Node        `json:"-"`
	DnsSuffix  string             `json:"-"`
	Catalog    int64              `json:"-"` // the revision of the tenant's own entries that it was made by
}

// most is what a layout costs per hour where its machines have to be of the dearest other hardware.
func (d Draft) most(l layout.Layout) (n float64) {
	for _, g := range l.Groups {
		n += float64(g.Count) * d.Definition.Highest(g.Hardware, d.Definition.FallbackHardware).CostPerHour
	}
	return math.Round(n*1e9) / 1e9
}

// cpu counts the virtual cores of a layout; nodes of unknown size count as none.
func (d Draft) cpu(l layout.Layout) (n float64) {
	for _, g := range l.Groups {
		n += float64(g.Count) * d.Definition.Hardware[g.Hardware].CPU
	}
	return n
}

// mostCPU is cpu where the machines are of the largest hardware that they may be of.
func (d Draft) mostCPU(l layout.Layout) (n float64) {
	for _, g := range l.Groups {
		n += float64(g.Count) * d.Definition.Highest(g.Hardware, d.Definition.FallbackHardware).CPU
	}
	return n
}

// Needs is what a layout needs of its account. Where machines may be of other hardware, how many of which there will be is not known, so each kind is
// asked about
// by itself.
func (d Draft) Needs(l layout.Layout) family.AccountNeeds {
	needs := family.AccountNeeds{Each: len(d.Definition.FallbackHardware) > 0}
	for _, g := range l.Groups {
		n := family.MachineNeed{Count: g.Count, Flavor: d.Definition.Hardware[g.Hardware], Image: d.Definition.Images[g.Image], Zone: g.Zone}
		if needs.Each {
			n.Count = 1
		}
		needs.Machines = append(needs.Machines, n)
	}
	return needs
}
