package pool

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"muster/app"
	"muster/portal/page"
)

// List is the page of pools.
type List struct {
	Now   time.Time
	Pools []app.PoolView
	Form  Form
}

// Form is what was typed for a new pool, or another count and age of one.
type Form struct {
	Name, Hardware, Image, Provider, Zone, Count, MaxAge string
	Catalog                                              *app.Catalog
	Field                                                string // that the complaint is about; "" for none of them
	Complaint                                            page.Complaint
}

// Error gives the complaint about a field.
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
	Pool    app.PoolView
	Receipt app.PoolReceipt
	Form    Form
}

// poolMark says how a pool stands.
func poolMark(v app.PoolView) (mark, word string) {
	switch {
	case v.Mode == app.PoolDeleted:
		return "running", "being deleted"
	case v.Mode == app.PoolDrained && v.Ready+v.Making+v.Leaving+v.Failed+v.Promised > 0:
		return "running", "being drained"
	case v.Mode == app.PoolDrained:
		return "dropped", "drained"
	case v.Mode == app.PoolOff:
		return "dropped", "off"
	case v.Trouble != "":
		return "failed", "not full"
	case v.Ready < v.Count:
		return "running", "filling"
	}
	return "succeeded", "full"
}

// poolKind says what its machines are.
func poolKind(p app.Pool) string {
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
func cells(now time.Time, v app.PoolView) (list []poolCell, more int) {
	order := []app.PoolState{app.PoolReady, app.PoolPromised, app.PoolMaking, app.PoolFailed, app.PoolLeaving}
	add := func(c poolCell) {
		if len(list) == mostCells {
			more++
			return
		}
		list = append(list, c)
	}
	counts := map[app.PoolState]int{app.PoolReady: v.Ready, app.PoolPromised: v.Promised, app.PoolMaking: v.Making, app.PoolFailed: v.Failed, app.PoolLeaving: v.Leaving}
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
	if v.Mode == app.PoolOn {
		for range v.Count - v.Ready - v.Making {
			add(poolCell{"missing", "not asked for yet"})
		}
	}
	return list, more
}

func stateWord(s app.PoolState) string {
	switch s {
	case app.PoolMaking:
		return "being made"
	case app.PoolReady:
		return "ready"
	case app.PoolPromised:
		return "promised"
	case app.PoolHanded:
		return "handed out"
	case app.PoolFailed:
		return "failed"
	case app.PoolLeaving:
		return "being given back"
	}
	return "gone"
}

// stateMark is the mark of a machine's state.
func stateMark(s app.PoolState) string {
	switch s {
	case app.PoolReady:
		return "succeeded"
	case app.PoolFailed:
		return "failed"
	case app.PoolMaking, app.PoolLeaving:
		return "running"
	}
	return "waiting"
}

func machineWords(now time.Time, m app.PoolMachine) string {
	since := page.Rough(max(now.Sub(m.Since), 0))
	switch m.State {
	case app.PoolReady:
		return "ready for " + since + ", until it is replaced " + page.Rough(max(m.ExpiresAt.Sub(now), 0))
	case app.PoolPromised:
		return "promised to " + m.ForNode + " of " + m.ForCluster
	case app.PoolMaking:
		return "being made for " + since
	}
	return stateWord(m.State)
}

// summary says in a sentence what there is.
func (s Show) summary() string {
	v := s.Pool
	text := fmt.Sprintf("%d of %s ready", v.Ready, page.Count(v.Count, "machine"))
	if v.Ready > 0 {
		text += ", waiting for up to " + page.Rough(max(s.Now.Sub(v.WaitedSince), 0))
	}
	return text + "."
}

// Clock is a moment, for templates.
type Clock = time.Time

// poolPictureWords says what a picture shows.
func poolPictureWords(v app.PoolView) string {
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
func poolKey(v app.PoolView) (list []poolCell) {
	seen := map[string]bool{}
	all, _ := cells(time.Time{}, v)
	for _, c := range all {
		if !seen[c.State] {
			seen[c.State] = true
			word := "lacking"
			if c.State != "missing" {
				word = stateWord(app.PoolState(c.State))
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
	switch app.PoolState(c.State) {
	case app.PoolReady:
		return "var(--accent)"
	case app.PoolPromised:
		return "var(--initialize)"
	case app.PoolMaking:
		return "var(--run-2)"
	case app.PoolFailed:
		return "var(--bad)"
	}
	return "none"
}

func (c poolCell) stroke() string {
	if c.State == string(app.PoolLeaving) {
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
