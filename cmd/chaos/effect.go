//go:build unix

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"muster/app"
)

// done is what a cluster's nodes have really done.
type done struct {
	times  map[string]int // by operation and step
	lines  int
	inTurn map[string][]string // by file, in the order of being done
}

func effectOf(operation int64, step string) string {
	return strconv.FormatInt(operation, 10) + "|" + step
}

// readEffects reads the files of effects of one cluster.
func readEffects(files []string) (done, error) {
	d := done{times: map[string]int{}, inTurn: map[string][]string{}}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return d, err
		}
		for line := range strings.Lines(string(b)) {
			effect, whole := strings.CutSuffix(line, "\n")
			if operation, step, ok := strings.Cut(effect, "|"); !whole || !ok || operation == "" || step == "" {
				return d, fmt.Errorf("%s has the line %q", f, line)
			}
			d.times[effect]++
			d.lines++
			d.inTurn[f] = append(d.inTurn[f], effect)
		}
	}
	return d, nil
}

// late finds what was done on a node after its step had ended and a later step of the node had been begun: the act of one
// whose claim was over. Times that a wrong clock may have given tell nothing.
func (d done) late(steps map[string]app.Step, trusts func(time.Time) bool) (found []string) {
	for file, effects := range d.inTurn {
		for i, before := range effects {
			if steps[before].Attempt != 1 {
				continue // it may have been done by an attempt that began before the last
			}
			begun := steps[before].StartedAt
			if !trusts(begun) {
				continue
			}
			for _, effect := range effects[i+1:] {
				if s, ok := steps[effect]; ok && effect != before && !s.EndedAt.IsZero() && s.EndedAt.Before(begun) && trusts(s.EndedAt) {
					found = append(found, fmt.Sprintf("%s: %s, which had finished, after %s, which started later", file, effect, before))
				}
			}
		}
	}
	return found
}
