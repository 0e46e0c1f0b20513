package remote

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"muster/app"
)

const (
	lineMax    = 64 << 10        // bytes; longer lines are cut into pieces
	outputMax  = 8 << 20         // bytes of both outputs of one command that are passed on
	drainGrace = 2 * time.Second // of silence, after which outputs that nobody closes are left alone
)

// sink passes the lines of both outputs of one command on to out, until it is shut or the limit is reached.
type sink struct {
	mu   sync.RWMutex // held for reading while out is called, so that shut waits for those calls
	done bool
	out  app.Output

	left atomic.Int64 // bytes that may still be passed on; below zero the output has been cut
	busy atomic.Int64 // readers that are working, not waiting
	last atomic.Int64 // when something was last read, Unix nanoseconds
}

func newSink(out app.Output, limit int) *sink {
	s := &sink{out: out}
	s.left.Store(int64(limit))
	return s
}

// say passes one line on.
func (s *sink) say(stream app.Stream, line string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.done && s.out != nil {
		s.out(stream, line)
	}
}

// line passes a line of the command on, if the limit allows it. The command is not stopped by the limit.
func (s *sink) line(stream app.Stream, line []byte) {
	left := s.left.Load()
	for {
		if left < 0 {
			return
		}
		rest := left - int64(len(line)) - 1
		if s.left.CompareAndSwap(left, max(rest, -1)) {
			left = rest
			break
		}
		left = s.left.Load()
	}
	if left < 0 {
		s.say(app.StreamSystem, "output cut: the command says more than is kept; it goes on")
		return
	}
	s.say(stream, clean(line))
}

// shut makes sure that out is never called again. Calls that have begun are waited for.
func (s *sink) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
}

// quiet tells whether nothing has come for a while, although the readers wait for more.
func (s *sink) quiet(while time.Duration) bool {
	return s.busy.Load() == 0 && time.Since(time.Unix(0, s.last.Load())) > while
}

// read splits r into lines until it ends. A last line without a line break counts; first, if not nil, sees every line
// and keeps those from being passed on for which it returns true.
func (s *sink) read(stream app.Stream, r io.Reader, first func(line []byte) (rest []byte, mine bool)) {
	pass := func(line []byte) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if first != nil {
			rest, mine := first(line)
			if mine && len(rest) == 0 {
				return
			}
			line = rest
		}
		s.line(stream, line)
	}
	buf := make([]byte, 0, 4096)
	chunk := make([]byte, 32<<10)
	for {
		n, err := r.Read(chunk)
		s.busy.Add(1)
		s.last.Store(time.Now().UnixNano())
		buf = append(buf, chunk[:n]...)
		rest := buf
		for {
			i := bytes.IndexByte(rest[:min(len(rest), lineMax+1)], '\n')
			if i < 0 && len(rest) <= lineMax {
				break
			}
			if i >= 0 {
				pass(rest[:i])
				rest = rest[i+1:]
				continue
			}
			cut := cutAt(rest, lineMax)
			pass(rest[:cut])
			rest = rest[cut:]
		}
		buf = append(buf[:0], rest...)
		if err != nil && len(buf) > 0 {
			pass(buf)
		}
		s.last.Store(time.Now().UnixNano())
		s.busy.Add(-1)
		if err != nil {
			return
		}
	}
}

// cutAt gives the greatest cut <= limit that does not go through a character.
func cutAt(b []byte, limit int) int {
	for i := limit; i > limit-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return limit // not UTF-8 anyway
}

// clean makes valid text of what a command wrote. NUL is valid UTF-8, but databases refuse it in text.
func clean(b []byte) string {
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// tail remembers the last line of an error output that says something, for messages.
type tail struct {
	mu   sync.Mutex
	text string
}

func (t *tail) set(line string) {
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	if len(line) > 300 {
		line = strings.ToValidUTF8(line[:300], "") + "…"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = line
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text
}

// because appends ": text" to a sentence that lacks its end.
func because(sentence string, text string) string {
	if text == "" {
		return sentence + "."
	}
	return fmt.Sprintf("%s: %s", sentence, text)
}
