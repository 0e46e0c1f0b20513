package solver

import (
	"math"

	"muster/app"
)

// load is what services take of a node, or what hardware offers: CPU, memory and disk in millionths, so that sums do not
// depend on their order, and the number of services.
type load [4]int64

const (
	micro   = 1e6
	bySize  = 3 // the index of the number of services
	endless = int64(math.MaxInt64 / 4)
)

var boundless = load{endless, endless, endless, endless}

// loadOf states what a service needs. What is not a sensible number of anything counts as 0.
func loadOf(r app.Resources) load {
	return load{millionths(r.CPU), millionths(r.MemoryGB), millionths(r.DiskGB), 1}
}

func millionths(x float64) int64 {
	if !(x > 0) {
		return 0
	}
	return int64(math.Round(min(x, 1e9) * micro))
}

// offer is what hardware has to give; what it does not state is not limited.
func offer(f app.Flavor) load {
	out := load{millionths(f.CPU), millionths(f.MemoryGB), millionths(f.DiskGB), endless}
	for i, v := range out {
		if v == 0 {
			out[i] = endless
		}
	}
	return out
}

func (l load) plus(m load) load {
	for i := range l {
		l[i] += m[i]
	}
	return l
}

func (l load) minus(m load) load {
	for i := range l {
		l[i] -= m[i]
	}
	return l
}

// within tells whether l finds room in m.
func (l load) within(m load) bool {
	return l[0] <= m[0] && l[1] <= m[1] && l[2] <= m[2] && l[3] <= m[3]
}

// free tells whether nothing is taken that hardware could be short of.
func (l load) free() bool { return l[0] == 0 && l[1] == 0 && l[2] == 0 }

func ceil(a, b int) int { return (a + max(1, b) - 1) / max(1, b) }
