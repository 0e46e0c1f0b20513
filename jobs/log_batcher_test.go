package jobs

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
)

// logServer takes log lines, once it may.
type logServer struct {
	execution.Coordinator
	open chan struct{}

	mu    sync.Mutex
	lines []app.LogLine
}

func (s *logServer) Log(_ context.Context, _ app.WorkerID, lines []app.LogLine) error {
	<-s.open
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, lines...)
	return nil
}

// What a worker has no room for while the server doesn't take it is said in the log, for each step.
func TestDroppedLinesAreSaidInTheLog(t *testing.T) {
	s := &logServer{open: make(chan struct{})}
	b := startLogBatcher(app.WorkerID{}, s, slog.New(slog.DiscardHandler))
	one, other := b.of(app.Fence{Operation: 1, Index: 1}), b.of(app.Fence{Operation: 1, Index: 2})
	for range logBuffer + logBatch {
		one(family.StreamOut, "x")
	}
	for range logBuffer {
		other(family.StreamOut, "y")
	}
	close(s.open)
	b.close()
	said, kept := map[int]string{}, map[int]int{}
	for _, l := range s.lines {
		if l.Stream == family.StreamSystem {
			said[l.Index] += l.Text
		} else {
			kept[l.Index]++
		}
	}
	if kept[1] != logBuffer+logBatch && said[1] == "" || kept[1]+kept[2] < logBuffer {
		t.Errorf("%v lines came, and the log says %v", kept, said)
	}
	if kept[2] == logBuffer || !strings.HasPrefix(said[2], family.OutputCut) || !strings.Contains(said[2],
		"lines omitted, since the server couldn't be reached") {
		t.Errorf("%d of %d lines came, and the log says %q", kept[2], logBuffer, said[2])
	}
}
