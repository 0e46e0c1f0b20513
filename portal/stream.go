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
	streamGap     = 200 * time.Millisecond // between two updates
	streamRetry   = 2 * time.Second        // a reader whose stream broke comes back after
	streamsByUser = 24
)

// stream writes server-sent events.
type stream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	last time.Time
	buf  bytes.Buffer
}

// openStream begins a stream. The server's deadlines are for requests that end; a stream has one for each write.
func openStream(w http.ResponseWriter) (*stream, error) {
	s := &stream{w: w, rc: http.NewResponseController(w)}
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
	mu   sync.Mutex
	open map[string]int
}

func newStreams() *streams { return &streams{open: map[string]int{}} }

// take counts one in, or gives ERateLimit. Free gives it back.
func (s *streams) take(a app.Actor) (free func(), err error) {
	key := a.Tenant + "/" + a.User
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] >= streamsByUser {
		return nil, errStreamsFull
	}
	s.open[key]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[key]--; s.open[key] == 0 {
			delete(s.open, key)
		}
	}, nil
}
