package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/humanize"
)

// logBatcher gathers the lines of all steps of a worker and sends them on in batches.
type logBatcher struct {
	worker app.WorkerID
	coord  execution.Coordinator
	log    *slog.Logger

	mu      sync.Mutex
	lines   []app.LogLine
	dropped map[app.Fence]int // lines that there was no room for
	sending sync.Mutex
	full    chan struct{}
	stop    chan struct{}
	done    chan struct{}
}

const (
	logEvery  = 150 * time.Millisecond
	logBatch  = 500   // lines sent at once
	logBuffer = 20000 // lines kept while the server does not take them; the newest are dropped then, and counted
	logLine   = 4096  // bytes of a line that are kept
)

func startLogBatcher(worker app.WorkerID, coord execution.Coordinator, log *slog.Logger) *logBatcher {
	b := &logBatcher{worker: worker, coord: coord, log: log, dropped: map[app.Fence]int{}, full: make(chan struct{},
		1), stop: make(chan struct{}), done: make(chan struct{})}
	go b.run()
	return b
}

// of returns the output of one attempt.
func (b *logBatcher) of(f app.Fence) family.Output {
	return func(s app.Stream, line string) {
		if len(line) > logLine {
			line = line[:logLine] + " …"
		}
		l := app.LogLine{At: time.Now(), Operation: f.Operation, Index: f.Index, Attempt: f.Attempt, Stream: s, Text: line}
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.lines) >= logBuffer {
			b.dropped[f]++
			return
		}
		b.lines = append(b.lines, l)
		if len(b.lines) == 1 || len(b.lines) == logBatch {
			select {
			case b.full <- struct{}{}:
			default:
			}
		}
	}
}

func (b *logBatcher) close() {
	close(b.stop)
	<-b.done
}

// run sends what has gathered, at most every logEvery, and sleeps while there is nothing.
func (b *logBatcher) run() {
	defer close(b.done)
	for {
		select {
		case <-b.full:
		case <-b.stop:
			b.flush()
			return
		}
		select {
		case <-time.After(logEvery):
		case <-b.stop:
		}
		b.flush()
	}
}

// flush sends everything that was said so far.
func (b *logBatcher) flush() {
	b.sending.Lock()
	defer b.sending.Unlock()
	for {
		b.mu.Lock()
		n := min(len(b.lines), logBatch)
		lines := b.lines[:n:n]
		b.lines = b.lines[n:]
		if len(b.lines) == 0 {
			lines = append(lines, b.notes()...)
		}
		b.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := b.coord.Log(ctx, b.worker, lines)
		cancel()
		if err != nil {
			b.log.Warn("could not send log lines", "lines", n, "error", err)
		}
	}
}

// notes says in the log of each attempt how many of its lines were dropped. The lock is held.
func (b *logBatcher) notes() (lines []app.LogLine) {
	for f, n := range b.dropped {
		b.log.Warn("log lines dropped", "lines", n, "operation", f.Operation, "step", f.Index)
		text := family.OutputCut + humanize.CountOf(n, "line", "lines") + " omitted, since the server couldn't be reached"
		lines = append(lines, app.LogLine{At: time.Now(), Operation: f.Operation, Index: f.Index, Attempt: f.Attempt, Stream: family.StreamSystem, Text: text})
		if delete(b.dropped, f); len(lines) == logBatch {
			break
		}
	}
	return lines
}
