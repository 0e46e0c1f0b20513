package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"muster/app"
	"muster/app/observe"
)

// How event streams behave.
const (
	StreamWrite   = 15 * time.Second       // a reader that takes nothing for so long is gone
	StreamPing    = 15 * time.Second       // a silent stream says so, or proxies cut it
	StreamLook    = 5 * time.Second        // look again even without a wake-up: it may have happened in another process
	StreamMove    = 15 * time.Second       // pages of clusters at work, which are woken by all that happens: how long it takes yet goes stale
	StreamRest    = 5 * time.Minute        // the same where nothing happens by itself: words such as "2 h ago" go stale
	StreamGap     = 200 * time.Millisecond // between two updates
	streamRetry   = 2 * time.Second        // a reader whose stream broke comes back after
	StreamsByUser = 24                     // pages of a person
	AsksByUser    = 400                    // streams and waits of someone's programs: a build system is one user, with a wait for each of its builds
)

// Stream writes server-sent events.
type Stream struct {
	Meter observe.Meter
	w     http.ResponseWriter
	rc    *http.ResponseController
	last  time.Time
	buf   bytes.Buffer
}

// OpenStream begins a stream. The server's deadlines are for requests that end; a stream has one for each write.
func OpenStream(w http.ResponseWriter, m observe.Meter) (*Stream, error) {
	s := &Stream{Meter: observe.MeterOf(m), w: w, rc: http.NewResponseController(w)}
	if err := s.rc.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies shall not collect it
	w.WriteHeader(http.StatusOK)
	fmt.Fprintf(&s.buf, "retry: %d\n\n", streamRetry.Milliseconds())
	return s, s.Flush()
}

// Add puts an event into the next flush. Id and name may be "".
func (s *Stream) Add(id, name string, data []byte) {
	if id != "" {
		s.buf.WriteString("id: " + id + "\n")
	}
	s.Meter.Add(observe.MetricStreamed, 1)
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

// Ping says that nothing happened, when nothing was said for a while.
func (s *Stream) Ping() {
	if s.buf.Len() == 0 && time.Since(s.last) >= StreamPing {
		s.buf.WriteString(": still here\n\n")
	}
}

// Flush sends what was added.
func (s *Stream) Flush() error {
	if s.buf.Len() == 0 {
		return nil
	}
	s.last = time.Now()
	if err := s.rc.SetWriteDeadline(s.last.Add(StreamWrite)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := io.Copy(s.w, &s.buf); err != nil {
		return err
	}
	s.buf.Reset()
	return s.rc.Flush()
}

// Streams counts the open streams of each user, so that one cannot use up the server.
type Streams struct {
	Meter observe.Meter
	mu    sync.Mutex
	Open  map[string]int
}

// Take counts in a page of a person, or returns ERateLimit. Free returns it.
func (s *Streams) Take(a app.Actor) (free func(), err error) {
	return s.count(a.Tenant+"/"+a.User, StreamsByUser, errStreamsFull)
}

// TakeAsk is take for programs, which are counted apart, so that they take no one's pages away.
func (s *Streams) TakeAsk(a app.Actor) (free func(), err error) {
	return s.count("api "+a.Tenant+"/"+a.User, AsksByUser, errAsksFull)
}

func (s *Streams) count(key string, most int, full error) (free func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Open[key] >= most {
		return nil, full
	}
	s.Open[key]++
	s.Meter.Add(observe.MetricStreams, 1)
	return func() {
		s.Meter.Add(observe.MetricStreams, -1)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.Open[key]--; s.Open[key] == 0 {
			delete(s.Open, key)
		}
	}, nil
}
