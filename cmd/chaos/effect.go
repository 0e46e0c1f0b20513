//go:build unix

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// done is what a cluster's nodes have really done.
type done struct {
	times map[string]int // by operation and step
	lines int
	late  []string // writes by an older claim after those of a newer one, in words
}

func effectOf(operation int64, step string) string {
	return strconv.FormatInt(operation, 10) + "|" + step
}

// readEffects reads the files of effects of one cluster.
func readEffects(files []string) (done, error) {
	d := done{times: map[string]int{}}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return d, err
		}
		newest := int64(-1)
		for line := range strings.Lines(string(b)) {
			words := strings.Split(strings.TrimSpace(line), "|")
			if len(words) != 3 {
				return d, fmt.Errorf("%s has the line %q", f, line)
			}
			epoch, err := strconv.ParseInt(words[2], 10, 64)
			if err != nil {
				return d, fmt.Errorf("%s has the line %q", f, line)
			}
			if epoch < newest {
				d.late = append(d.late, fmt.Sprintf("%s: %s with epoch %d after epoch %d", f, words[1], epoch, newest))
			}
			newest = max(newest, epoch)
			d.times[words[0]+"|"+words[1]]++
			d.lines++
		}
	}
	return d, nil
}
