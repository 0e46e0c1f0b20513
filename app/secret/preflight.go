package secret

import "muster/app"

// Needs is what a layout needs of its account. Where machines may be of other hardware, how many of which there will be is not known, so each kind is asked about
// by itself.
func (d Draft) Needs(l app.Layout) app.AccountNeeds {
	needs := app.AccountNeeds{Each: len(d.Definition.FallbackHardware) > 0}
	for _, g := range l.Groups {
		n := app.MachineNeed{Count: g.Count, Flavor: d.Definition.Hardware[g.Hardware], Image: d.Definition.Images[g.Image], Zone: g.Zone}
		if needs.Each {
			n.Count = 1
		}
		needs.Machines = append(needs.Machines, n)
	}
	return needs
}
