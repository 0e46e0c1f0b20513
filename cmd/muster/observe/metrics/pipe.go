package metrics

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"muster/app/observe"
)

// maxPipeLine is how many lines may wait in a pipe; further ones are dropped.
const maxPipeLine = 4096

// pipeLine is a line in the pipe.
type pipeLine struct {
	Metric   string        `json:"m"`
	N        float64       `json:"n,omitempty"`
	Duration time.Duration `json:"t,omitempty"`
	Labels   []string      `json:"l,omitempty"`
	Timed    bool          `json:"d,omitempty"`
}

// PipeMeter is the meter of a worker process: it sends counts to its parent process. So a host has one place to scrape, and counts outlive the
// worker. It never blocks: without a reader, it drops counts.
type PipeMeter struct {
	lines   chan pipeLine
	done    chan struct{}
	stop    chan struct{}
	once    sync.Once
	dropped atomic.Int64
}

var _ observe.Meter = (*PipeMeter)(nil)

// NewPipeMeter writes to w until Close.
func NewPipeMeter(w io.Writer) *PipeMeter {
	t := &PipeMeter{lines: make(chan pipeLine, maxPipeLine), done: make(chan struct{}), stop: make(chan struct{})}
	go func() {
		defer close(t.done)
		out := bufio.NewWriter(w)
		enc := json.NewEncoder(out)
		put := func(l pipeLine) bool { return enc.Encode(l) == nil && (len(t.lines) > 0 || out.Flush() == nil) }
		for {
			select {
			case l := <-t.lines:
				if !put(l) {
					return
				}
			case <-t.stop:
				for len(t.lines) > 0 {
					if !put(<-t.lines) {
						return
					}
				}
				return
			}
		}
	}()
	return t
}

// Close writes the rest. It may be called twice.
func (t *PipeMeter) Close() error {
	t.once.Do(func() { close(t.stop) })
	<-t.done
	return nil
}

func (t *PipeMeter) send(l pipeLine) {
	select {
	case t.lines <- l:
	default:
		t.dropped.Add(1)
	}
}

func (t *PipeMeter) Add(m *observe.Metric, n float64, labels ...string) {
	t.send(pipeLine{Metric: m.Name, N: n, Labels: append([]string(nil), labels...)})
}

func (t *PipeMeter) ObserveDuration(m *observe.Metric, d time.Duration, labels ...string) {
	t.send(pipeLine{Metric: m.Name, Duration: d, Labels: append([]string(nil), labels...), Timed: true})
}

// Listen counts what a PipeMeter sends, until it ends or sends invalid lines. Its remaining levels are subtracted then.
func (m *Metrics) Listen(r io.Reader) {
	levels := map[string]struct {
		metric *observe.Metric
		labels []string
		n      float64
	}{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		var l pipeLine
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			break
		}
		s := m.series[l.Metric]
		if s == nil || len(l.Labels) != len(s.metric.Labels) {
			continue // from another version
		}
		if l.Timed {
			m.ObserveDuration(s.metric, l.Duration, l.Labels...)
			continue
		}
		m.Add(s.metric, l.N, l.Labels...)
		if s.level != nil {
			key := l.Metric
			for _, label := range l.Labels {
				key += "\x00" + label
			}
			v := levels[key]
			v.metric, v.labels, v.n = s.metric, l.Labels, v.n+l.N
			levels[key] = v
		}
	}
	for _, v := range levels {
		m.Add(v.metric, -v.n, v.labels...)
	}
	_, _ = io.Copy(io.Discard, r) // the writer must not block
}
