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

// Timing and limits of event streams.
const (
	StreamWrite   = 15 * time.Second      // a reader that accepts nothing for this long is gone
	StreamPing    = 15 * time.Second      // a silent stream pings, or proxies cut it
	StreamLook    = 5 * time.Second       // check even without a wake-up: events may come from another process
	StreamMove    = 15 * time.Second      // update pages that show what happens to others, such as a place in the queue
	StreamRest    = time.Hour             // update other pages even if they heard nothing, in case a wake-up was lost
	StreamGap     = 50 * time.Millisecond // between two updates
	streamRetry   = 2 * time.Second       // reconnect delay
	StreamsByUser = 24                    // pages per person
	AsksByUser    = 400                   // streams and waits of a user's programs: a build system is one user with a wait for each build
)

// Stream writes server-sent events.
type Stream struct {
	Meter observe.Meter
	w     http.ResponseWriter
	rc    *http.ResponseController
	last  time.Time
	buf   bytes.Buffer
}

// OpenStream starts a stream, which has a deadline for each write instead of the server's.
func OpenStream(w http.ResponseWriter, m observe.Meter) (*Stream, error) {
	s := &Stream{Meter: observe.MeterOf(m), w: w, rc: http.NewResponseController(w)}
	if err := s.rc.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // turn off proxy buffering
	w.WriteHeader(http.StatusOK)
	fmt.Fprintf(&s.buf, "retry: %d\n\n", streamRetry.Milliseconds())
	return s, s.Flush()
}

// Add adds an event to the next flush. Id and name may be "".
func (s *Stream) Add(id, name string, data []byte) {
	if id != "" {
		s.buf.WriteString("id: " + id + "\n")
	}
	s.Meter.Add(observe.MetricStreamEvents, 1)
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

// Ping sends a ping if nothing was sent for a while.
func (s *Stream) Ping() {
	if s.buf.Len() == 0 && time.Since(s.last) >= StreamPing {
		s.buf.WriteString(": still here\n\n")
	}
}

// Flush sends added events.
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

// Streams limits the open streams of each user.
type Streams struct {
	Meter observe.Meter
	mu    sync.Mutex
	Open  map[string]int
}

// Take counts a page of a person, or returns ERateLimit. Free releases it.
func (s *Streams) Take(a app.Actor) (free func(), err error) {
	return s.count(a.Tenant+"/"+a.User, StreamsByUser, errStreamsFull)
}

// TakeAsk is Take for programs, which are counted separately from pages.
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
