package redact

import (
	"sync"

	"muster/app"
)

// tails remembers how very long lines ended, stream by stream: the next line may continue them.
type tails struct {
	mu sync.Mutex
	of map[app.Stream]string
}

func newTails() *tails { return &tails{of: map[app.Stream]string{}} }

// swap returns the end of the line before, and keeps that of this one.
func (t *tails) swap(s app.Stream, line string, most int) (before string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before = t.of[s]
	if len(line) >= longPiece {
		t.of[s] = line[len(line)-min(len(line), most-1):]
	} else {
		delete(t.of, s)
	}
	return before
}
