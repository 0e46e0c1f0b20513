package load

import (
	"math"

	"muster/app/layout"
	"muster/app/template"
)

// Load is what services take of a node, or what hardware offers: CPU, memory and disk in millionths, so that sums do not
// depend on their order, whole GPUs, and the number of services.
type Load [5]int64

const (
	micro   = 1e6
	BySize  = 4                        // the index of the number of services
	Endless = int64(math.MaxInt64 / 4) // what is not limited
)

// Boundless is limited in nothing.
var Boundless = Load{Endless, Endless, Endless, Endless, Endless}

// Of states what a service needs. What is not a sensible number of anything counts as 0.
func Of(r template.Requirements) Load {
	return Load{millionths(r.CPU), millionths(r.MemoryGB), millionths(r.DiskGB), int64(max(0, r.GPUs)), 1}
}

func millionths(x float64) int64 {
	if !(x > 0) {
		return 0
	}
	return int64(math.Round(min(x, 1e9) * micro))
}

// Offer is what hardware has to give; what it does not state is not limited, but for GPUs: it has as many as it states.
func Offer(f template.Flavor) Load {
	out := Load{millionths(f.CPU), millionths(f.MemoryGB), millionths(f.DiskGB), int64(max(0, f.GPUs)), Endless}
	for i, v := range out[:3] {
		if v == 0 {
			out[i] = Endless
		}
	}
	return out
}

// Plus adds m to l.
func (l Load) Plus(m Load) Load {
	for i := range l {
		l[i] += m[i]
	}
	return l
}

// Minus takes m off l.
func (l Load) Minus(m Load) Load {
	for i := range l {
		l[i] -= m[i]
	}
	return l
}

// Within reports whether l finds room in m.
func (l Load) Within(m Load) bool {
	return l[0] <= m[0] && l[1] <= m[1] && l[2] <= m[2] && l[3] <= m[3] && l[4] <= m[4]
}

// Free reports whether nothing is taken that hardware could be short of.
func (l Load) Free() bool { return l[0] == 0 && l[1] == 0 && l[2] == 0 && l[3] == 0 }

// RoomOn returns how many nodes of a flavor a host can take, and what it has left of all that the flavor does not state.
func RoomOn(h layout.Host, f template.Flavor) (nodes int, free Load) {
	nodes, free = h.Nodes, Boundless
	for i, d := range []struct {
		free   *float64
		stated float64
	}{{h.Free.CPU, f.CPU}, {h.Free.MemoryGB, f.MemoryGB}, {h.Free.DiskGB, f.DiskGB}} {
		takes := millionths(d.stated)
		switch {
		case d.free == nil:
		case takes > 0:
			nodes = int(min(int64(nodes), millionths(*d.free)/takes))
		default:
			free[i] = millionths(*d.free)
		}
	}
	return nodes, free
}
