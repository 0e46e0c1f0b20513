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
	Pools []pool.View
	Form  Form
}

// Form is the input for a new pool, or for the size and age of an existing one.
type Form struct {
	Name, Hardware, Image, Provider, Zone, Count, MaxAge string
	Catalog                                              *template.Catalog
	Field                                                string // of the complaint; "" for none of the fields
	Complaint                                            page.Complaint
}

// Error returns the error of a field.
func (f Form) Error(field string) page.Complaint {
	if f.Field == field {
		return f.Complaint
	}
	return page.Complaint{}
}

func (f Form) hardware() []string  { return slices.Sorted(maps.Keys(f.Catalog.Hardware)) }
func (f Form) images() []string    { return slices.Sorted(maps.Keys(f.Catalog.Images)) }
func (f Form) providers() []string { return slices.Sorted(maps.Keys(f.Catalog.Providers)) }

// zones are those of all providers; the use case checks the choice.
func (f Form) zones() (zones []string) {
	for _, p := range f.Catalog.Providers {
		zones = append(zones, p.Zones...)
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// AgeField writes an age as a form takes it, in whole minutes.
func AgeField(d time.Duration) string { return humanize.DurationField(d.Truncate(time.Minute)) }

// Show is the page of one pool.
type Show struct {
	Now     time.Time
	Pool    pool.View
	Receipt pool.Receipt
	Form    Form
}

// poolMark is the state of a pool.
func poolMark(v pool.View) (mark, word string) {
	switch {
	case v.Mode == pool.ModeDeleted:
		return "running", "deleting"
	case v.Mode == pool.ModeDrained && v.Ready+v.Creating+v.Deleting+v.Failed+v.Reserved > 0:
		return "running", "draining"
	case v.Mode == pool.ModeDrained:
		return "dropped", "drained"
	case v.Mode == pool.ModeOff:
		return "dropped", "off"
	case v.Error != "":
		return "failed", "not full"
	case v.Ready < v.Count:
		return "running", "filling"
	}
	return "succeeded", "full"
}

// poolKind describes a pool's machines.
func poolKind(p pool.Pool) string {
	text := p.Hardware + ", " + p.Image + ", " + p.Provider
	if p.Zone != "" {
		text += ", zone " + p.Zone
	}
	return text
}

// poolCell is a machine in the picture of a pool, or a missing one.
type poolCell struct {
	State string // of app.PoolState, or "missing"
	Title string
}

// maxCells is how many machines a picture shows; the rest is a number.
const maxCells = 120

// cells are the machines of a pool in the order of use, and then the missing ones.
func cells(now time.Time, v pool.View) (list []poolCell, more int) {
	order := []pool.State{pool.StateReady, pool.StateReserved, pool.StateCreating, pool.StateFailed, pool.StateDeleting}
	add := func(c poolCell) {
		if len(list) == maxCells {
			more++
			return
		}
		list = append(list, c)
	}
	counts := map[pool.State]int{pool.StateReady: v.Ready, pool.StateReserved: v.Reserved, pool.StateCreating: v.Creating, pool.StateFailed: v.Failed, pool.StateDeleting: v.Deleting}
	for _, state := range order {
		shown := 0
		for _, m := range v.Machines {
			if m.State == state {
				shown++
				add(poolCell{string(state), m.Cluster + ": " + machineWords(now, m)})
			}
		}
		for range counts[state] - shown {
			add(poolCell{string(state), stateWord(state)})
		}
	}
	if v.Mode == pool.ModeOn {
		for range v.Count - v.Ready - v.Creating {
			add(poolCell{"missing", "not requested yet"})
		}
	}
	return list, more
}

func stateWord(s pool.State) string {
	switch s {
	case pool.StateCreating:
		return "creating"
	case pool.StateReady:
		return "ready"
	case pool.StateReserved:
		return "reserved"
	case pool.StateAssigned:
		return "handed over"
	case pool.StateFailed:
		return "failed"
	case pool.StateDeleting:
		return "deleting"
	}
	return "deleted"
}

// stateMark is the mark of a machine's state.
func stateMark(s pool.State) string {
	switch s {
	case pool.StateReady:
		return "succeeded"
	case pool.StateFailed:
		return "failed"
	case pool.StateCreating, pool.StateDeleting:
		return "running"
	}
	return "waiting"
}

func machineWords(now time.Time, m pool.Machine) string {
	since := humanize.Rough(max(now.Sub(m.Since), 0))
	switch m.State {
	case pool.StateReady:
		return "ready for " + since + ", replaced in " + humanize.Rough(max(m.ExpiresAt.Sub(now), 0))
	case pool.StateReserved:
		return "reserved for " + m.ForNode + " of " + m.ForCluster
	case pool.StateCreating:
		return "creating for " + since
	}
	return stateWord(m.State)
}

// summary says in a sentence how many machines are ready.
func (s Show) summary() string {
	v := s.Pool
	text := fmt.Sprintf("%d of %s ready", v.Ready, humanize.Count(v.Count, "machine"))
	if v.Ready > 0 {
		text += ", the oldest for " + humanize.Rough(max(s.Now.Sub(v.WaitedSince), 0))
	}
	return text + "."
}

// Clock is a moment, for templates.
type Clock = time.Time

// poolPictureWords is the text alternative of a picture.
func poolPictureWords(v pool.View) string {
	text := fmt.Sprintf("%d ready", v.Ready)
	for _, x := range []struct {
		n    int
		word string
	}{{v.Reserved, "reserved"}, {v.Creating, "creating"}, {v.Failed, "failed"}, {v.Deleting, "deleting"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.word)
		}
	}
	return text
}

// poolKey is the legend of a picture.
func poolKey(v pool.View) (list []poolCell) {
	seen := map[string]bool{}
	all, _ := cells(time.Time{}, v)
	for _, c := range all {
		if !seen[c.State] {
			seen[c.State] = true
			word := "missing"
			if c.State != "missing" {
				word = stateWord(pool.State(c.State))
			}
			list = append(list, poolCell{c.State, word})
		}
	}
	return list
}

// cellsInRow is how many cells a row has, cellPitch their distance.
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

// fill is the color of a cell, from the style sheet.
func (c poolCell) fill() string {
	switch pool.State(c.State) {
	case pool.StateReady:
		return "var(--accent)"
	case pool.StateReserved:
		return "var(--initialize)"
	case pool.StateCreating:
		return "var(--run-2)"
	case pool.StateFailed:
		return "var(--bad)"
	}
	return "none"
}

func (c poolCell) stroke() string {
	if c.State == string(pool.StateDeleting) {
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
