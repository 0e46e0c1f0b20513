package portal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"muster/app"
)

// How event streams behave.
const (
	streamWrite   = 15 * time.Second       // a reader that takes nothing for so long is gone
	streamPing    = 15 * time.Second       // a silent stream says so, or proxies cut it
	streamLook    = 5 * time.Second        // look again even without a wake-up: it may have happened in another process
	streamMove    = 15 * time.Second       // pages of clusters at work, which are woken by all that happens: how long it takes yet goes stale
	streamRest    = 5 * time.Minute        // the same where nothing happens by itself: words such as "2 h ago" go stale
	streamGap     = 200 * time.Millisecond // between two updates
	streamRetry   = 2 * time.Second        // a reader whose stream broke comes back after
	streamsByUser = 24                     // pages of a person
	asksByUser    = 400                    // streams and waits of somebody's programs: a build system is one user, with a wait for each of its builds
)

// stream writes server-sent events.
type stream struct {
	meter app.Meter
	w     http.ResponseWriter
	rc    *http.ResponseController
	last  time.Time
	buf   bytes.Buffer
}

// openStream begins a stream. The server's deadlines are for requests that end; a stream has one for each write.
func openStream(w http.ResponseWriter, m app.Meter) (*stream, error) {
	s := &stream{meter: app.MeterOf(m), w: w, rc: http.NewResponseController(w)}
	if err := s.rc.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies shall not collect it
	w.WriteHeader(http.StatusOK)
	fmt.Fprintf(&s.buf, "retry: %d\n\n", streamRetry.Milliseconds())
	return s, s.flush()
}

// add puts an event into the next flush. Id and name may be "".
func (s *stream) add(id, name string, data []byte) {
	if id != "" {
		s.buf.WriteString("id: " + id + "\n")
	}
	s.meter.Add(app.MetricStreamed, 1)
	if name != "" {
		s.buf.WriteString("event: " + name + "\n")
	}
	// A carriage return would end a line too.
	data = bytes.ReplaceAll(data, []byte("\r"), nil)
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		s.buf.WriteString("data: ")
		s.buf.Write(line)
		s.buf.WriteByte('\n')
	}
	s.buf.WriteByte('\n')
}

// ping says that nothing happened, when nothing was said for a while.
func (s *stream) ping() {
	if s.buf.Len() == 0 && time.Since(s.last) >= streamPing {
		s.buf.WriteString(": still here\n\n")
	}
}

// flush sends what was added.
func (s *stream) flush() error {
	if s.buf.Len() == 0 {
		return nil
	}
	s.last = time.Now()
	if err := s.rc.SetWriteDeadline(s.last.Add(streamWrite)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := io.Copy(s.w, &s.buf); err != nil {
		return err
	}
	s.buf.Reset()
	return s.rc.Flush()
}

// streams counts the open streams of each user, so that one cannot use up the server.
type streams struct {
	meter app.Meter
	mu    sync.Mutex
	open  map[string]int
}

func newStreams() *streams { return &streams{meter: app.MeterOf(nil), open: map[string]int{}} }

// take counts in a page of a person, or gives ERateLimit. Free gives it back.
func (s *streams) take(a app.Actor) (free func(), err error) {
	return s.count(a.Tenant+"/"+a.User, streamsByUser, errStreamsFull)
}

// takeAsk is take for programs, which are counted apart, so that they take nobody's pages away.
func (s *streams) takeAsk(a app.Actor) (free func(), err error) {
	return s.count("api "+a.Tenant+"/"+a.User, asksByUser, errAsksFull)
}

func (s *streams) count(key string, most int, full error) (free func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] >= most {
		return nil, full
	}
	s.open[key]++
	s.meter.Add(app.MetricStreams, 1)
	return func() {
		s.meter.Add(app.MetricStreams, -1)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[key]--; s.open[key] == 0 {
			delete(s.open, key)
		}
	}, nil
}
