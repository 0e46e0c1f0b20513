package catalog

import (
	"slices"
	"strings"

	"muster/app/catalog"
)

// Diff is a diff by line and by value.
type Diff struct {
	Hunks   []DiffHunk
	Fields  []catalog.FieldChange
	Added   int
	Removed int
}

// DiffHunk is a group of changed lines with context.
type DiffHunk []DiffLine

// DiffLine is a line of one text or both; its number is 0 in a text without it.
type DiffLine struct {
	Sign     string // "+", "-", or " " for both
	Old, New int
	Words    []Word
}

const (
	diffContext = 3
	diffMost    = 600 // changes; with more, all lines count as removed and added
)

// newDiff compares two texts by line. Equal texts have no hunks.
func newDiff(before, after string) *Diff {
	a, b := textLines(before), textLines(after)
	aw, bw := YAMLWords(before), YAMLWords(after)
	d := &Diff{}
	var all []DiffLine
	for _, e := range edits(a, b) {
		switch e.sign {
		case "-":
			d.Removed++
			all = append(all, DiffLine{Sign: "-", Old: e.old + 1, Words: aw[e.old]})
		case "+":
			d.Added++
			all = append(all, DiffLine{Sign: "+", New: e.new + 1, Words: bw[e.new]})
		default:
			all = append(all, DiffLine{Sign: " ", Old: e.old + 1, New: e.new + 1, Words: bw[e.new]})
		}
	}
	d.Hunks = hunks(all)
	return d
}

func textLines(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
}

// hunks groups changes with their context.
func hunks(all []DiffLine) (out []DiffHunk) {
	var now DiffHunk
	last := -1 // last line near a change
	for i, l := range all {
		if l.Sign == " " {
			continue
		}
		from := max(last+1, i-diffContext)
		if from > last+1 && now != nil {
			out, now = append(out, now), nil
		}
		to := i
		for n := 0; n < diffContext && to+1 < len(all) && all[to+1].Sign == " "; n++ {
			to++
		}
		if to > last {
			now = append(now, all[from:to+1]...)
			last = to
		}
	}
	if now != nil {
		out = append(out, now)
	}
	return out
}

type edit struct {
	sign     string
	old, new int
}

// edits finds the smallest edit (Myers) between common start and end.
func edits(a, b []string) (out []edit) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		out = append(out, edit{" ", head, head})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for _, e := range shortest(a[head:len(a)-tail], b[head:len(b)-tail]) {
		out = append(out, edit{e.sign, e.old + head, e.new + head})
	}
	for i := tail; i > 0; i-- {
		out = append(out, edit{" ", len(a) - i, len(b) - i})
	}
	return out
}

func shortest(a, b []string) (out []edit) {
	n, m := len(a), len(b)
	most := min(n+m, diffMost)
	v := make([]int, 2*most+2)
	var trace [][]int
	for d := 0; d <= most; d++ {
		trace = append(trace, slices.Clone(v))
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && v[k-1+most] < v[k+1+most] {
				x = v[k+1+most]
			} else {
				x = v[k-1+most] + 1
			}
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[k+most] = x
			if x >= n && y >= m {
				return walkBack(trace, n, m, most)
			}
		}
	}
	for i := range a {
		out = append(out, edit{"-", i, 0})
	}
	for i := range b {
		out = append(out, edit{"+", 0, i})
	}
	return out
}

func walkBack(trace [][]int, x, y, most int) (out []edit) {
	for d := len(trace) - 1; d >= 0; d-- {
		v, k := trace[d], x-y
		was := k - 1
		if k == -d || k != d && v[k-1+most] < v[k+1+most] {
			was = k + 1
		}
		px := 0
		if d > 0 {
			px = v[was+most]
		}
		py := px - was
		if d == 0 {
			px, py = 0, 0
		}
		for x > px && y > py {
			x, y = x-1, y-1
			out = append(out, edit{" ", x, y})
		}
		if d > 0 {
			if x == px {
				y--
				out = append(out, edit{"+", 0, y})
			} else {
				x--
				out = append(out, edit{"-", x, 0})
			}
		}
	}
	slices.Reverse(out)
	return out
}
