package secret

import "muster/app"

// Cpu counts the virtual cores of a layout; nodes of unknown size count as none.
func (d Draft) Cpu(l app.Layout) (n float64) {
	for _, g := range l.Groups {
		n += float64(g.Count) * d.Definition.Hardware[g.Hardware].CPU
	}
	return n
}

// MostCPU is cpu where the machines are of the largest hardware that they may be of.
func (d Draft) MostCPU(l app.Layout) (n float64) {
	for _, g := range l.Groups {
		n += float64(g.Count) * d.Definition.Highest(g.Hardware, d.Definition.FallbackHardware).CPU
	}
	return n
}
