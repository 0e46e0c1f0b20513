package pool

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"muster/app/humanize"
	"muster/app/pool"
	"muster/app/template"
	"muster/portal/page"
)

// List is the page of pools.
type List struct {
	Now   time.Time
	Pools []pool.PoolView
	Form  Form
}

// Form is what was typed for a new pool, or another count and age of one.
type Form struct {
	Name, Hardware, Image, Provider, Zone, Count, MaxAge string
	Catalog                                              *template.Catalog
	Field                                                string // that the complaint is about; "" for none of them
	Complaint                                            page.Complaint
}

// Error returns the complaint about a field.
func (f Form) Error(field string) page.Complaint {
	if f.Field == field {
		return f.Complaint
	}
	return page.Complaint{}
}

func (f Form) hardware() []string  { return slices.Sorted(maps.Keys(f.Catalog.Hardware)) }
func (f Form) images() []string    { return slices.Sorted(maps.Keys(f.Catalog.Images)) }
func (f Form) providers() []string { return slices.Sorted(maps.Keys(f.Catalog.Providers)) }

// zones are those of all providers; which fit is checked.
func (f Form) zones() (zones []string) {
	for _, p := range f.Catalog.Providers {
		zones = append(zones, p.Zones...)
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// AgeField writes an age as it can be typed.
func AgeField(d time.Duration) string {
	switch {
	case d%(24*time.Hour) == 0:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	case d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/time.Minute)) + "m"
}

// Show is the page of one pool.
type Show struct {
	Now     time.Time
	Pool    pool.PoolView
	Receipt pool.PoolReceipt
	Form    Form
}

// poolMark says how a pool stands.
func poolMark(v pool.PoolView) (mark, word string) {
	switch {
	case v.Mode == pool.PoolDeleted:
		return "running", "being deleted"
	case v.Mode == pool.PoolDrained && v.Ready+v.Making+v.Leaving+v.Failed+v.Promised > 0:
		return "running", "being drained"
	case v.Mode == pool.PoolDrained:
		return "dropped", "drained"
	case v.Mode == pool.PoolOff:
		return "dropped", "off"
	case v.Trouble != "":
		return "failed", "not full"
	case v.Ready < v.Count:
		return "running", "filling"
	}
	return "succeeded", "full"
}

// poolKind says what its machines are.
func poolKind(p pool.Pool) string {
	text := p.Hardware + ", " + p.Image + ", " + p.Provider
	if p.Zone != "" {
		text += ", zone " + p.Zone
	}
	return text
}

// poolCell is a machine in the picture of a pool, or a place where one is lacking.
type poolCell struct {
	State string // of app.PoolState, or "missing"
	Title string
}

// mostCells is how many machines a picture has; the rest is told in words.
const mostCells = 120

// cells are the machines of a pool in the order in which they are handed out, and then what is lacking.
func cells(now time.Time, v pool.PoolView) (list []poolCell, more int) {
	order := []pool.PoolState{pool.PoolReady, pool.PoolPromised, pool.PoolMaking, pool.PoolFailed, pool.PoolLeaving}
	add := func(c poolCell) {
		if len(list) == mostCells {
			more++
			return
		}
		list = append(list, c)
	}
	counts := map[pool.PoolState]int{pool.PoolReady: v.Ready, pool.PoolPromised: v.Promised, pool.PoolMaking: v.Making, pool.PoolFailed: v.Failed, pool.PoolLeaving: v.Leaving}
	for _, state := range order {
		told := 0
		for _, m := range v.Machines {
			if m.State == state {
				told++
				add(poolCell{string(state), m.Cluster + ": " + machineWords(now, m)})
			}
		}
		for range counts[state] - told {
			add(poolCell{string(state), stateWord(state)})
		}
	}
	if v.Mode == pool.PoolOn {
		for range v.Count - v.Ready - v.Making {
			add(poolCell{"missing", "not asked for yet"})
		}
	}
	return list, more
}

func stateWord(s pool.PoolState) string {
	switch s {
	case pool.PoolMaking:
		return "being made"
	case pool.PoolReady:
		return "ready"
	case pool.PoolPromised:
		return "promised"
	case pool.PoolHanded:
		return "handed out"
	case pool.PoolFailed:
		return "failed"
	case pool.PoolLeaving:
		return "being given back"
	}
	return "gone"
}

// stateMark is the mark of a machine's state.
func stateMark(s pool.PoolState) string {
	switch s {
	case pool.PoolReady:
		return "succeeded"
	case pool.PoolFailed:
		return "failed"
	case pool.PoolMaking, pool.PoolLeaving:
		return "running"
	}
	return "waiting"
}

func machineWords(now time.Time, m pool.PoolMachine) string {
	since := humanize.Rough(max(now.Sub(m.Since), 0))
	switch m.State {
	case pool.PoolReady:
		return "ready for " + since + ", until it is replaced " + humanize.Rough(max(m.ExpiresAt.Sub(now), 0))
	case pool.PoolPromised:
		return "promised to " + m.ForNode + " of " + m.ForCluster
	case pool.PoolMaking:
		return "being made for " + since
	}
	return stateWord(m.State)
}

// summary says in a sentence what there is.
func (s Show) summary() string {
	v := s.Pool
	text := fmt.Sprintf("%d of %s ready", v.Ready, humanize.Count(v.Count, "machine"))
	if v.Ready > 0 {
		text += ", waiting for up to " + humanize.Rough(max(s.Now.Sub(v.WaitedSince), 0))
	}
	return text + "."
}

// Clock is a moment, for templates.
type Clock = time.Time

// poolPictureWords says what a picture shows.
func poolPictureWords(v pool.PoolView) string {
	text := fmt.Sprintf("%d ready", v.Ready)
	for _, x := range []struct {
		n    int
		word string
	}{{v.Promised, "promised"}, {v.Making, "being made"}, {v.Failed, "failed"}, {v.Leaving, "being given back"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.word)
		}
	}
	return text
}

// poolKey explains the cells of a picture.
func poolKey(v pool.PoolView) (list []poolCell) {
	seen := map[string]bool{}
	all, _ := cells(time.Time{}, v)
	for _, c := range all {
		if !seen[c.State] {
			seen[c.State] = true
			word := "lacking"
			if c.State != "missing" {
				word = stateWord(pool.PoolState(c.State))
			}
			list = append(list, poolCell{c.State, word})
		}
	}
	return list
}

// cellsInRow is how many cells stand beside each other, cellPitch how far apart.
const (
	cellsInRow = 20
	cellPitch  = 19
)

func cellPlace(i int) (x, y string) {
	half := func(n int) string { return strconv.Itoa(n*cellPitch) + ".5" } // lines are sharp between pixels
	return half(i % cellsInRow), half(i / cellsInRow)
}

func cellsSize(n int) (width, height string) {
	return strconv.Itoa(min(n, cellsInRow) * cellPitch), strconv.Itoa((n + cellsInRow - 1) / cellsInRow * cellPitch)
}

// fill is the colour of a cell, of those of the style sheet.
func (c poolCell) fill() string {
	switch pool.PoolState(c.State) {
	case pool.PoolReady:
		return "var(--accent)"
	case pool.PoolPromised:
		return "var(--initialize)"
	case pool.PoolMaking:
		return "var(--run-2)"
	case pool.PoolFailed:
		return "var(--bad)"
	}
	return "none"
}

func (c poolCell) stroke() string {
	if c.State == string(pool.PoolLeaving) {
		return "var(--bad)"
	}
	return "var(--edge)"
}

func (c poolCell) dash() string {
	if c.State == "missing" {
		return "3 2"
	}
	return "none"
}
