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
	"muster/app/family"
	"muster/app/humanize"
)

const (
	lineMax     = 64 << 10        // bytes; longer lines are cut into pieces
	outputMax   = 8 << 20         // bytes of both outputs of one command that are passed on
	outputBurst = 1 << 20         // bytes that may come as fast as they like
	outputRate  = 256 << 10       // bytes a second after that
	drainGrace  = 2 * time.Second // of silence, after which outputs that no one closes are left alone

	chunkFirst = 1 << 10 // bytes that a reader begins with, and keeps while it waits for a quiet command
)

// sink passes the lines of both outputs of one command on to out, until it is shut or a limit is reached.
type sink struct {
	mu   sync.RWMutex // held for reading while out is called, so that shut waits for those calls
	done bool
	out  family.Output

	toll sync.Mutex
	all  int  // bytes that may be passed on
	left int  // of them, those that still may
	cut  bool // the end of them was reached
	rate int  // bytes a second that come back to the burst
	most int
	may  int // bytes of the burst available
	asOf time.Time
	gone int // lines that were left out since the last one that was not

	busy atomic.Int64 // readers that are working, not waiting
	last atomic.Int64 // when something was last read, Unix nanoseconds
}

func newSink(out family.Output, set settings) *sink {
	return &sink{out: out, all: set.outputMax, left: set.outputMax, rate: set.rate, most: set.burst, may: set.burst}
}

// say passes one line on.
func (s *sink) say(stream app.Stream, line string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.done && s.out != nil {
		s.out(stream, line)
	}
}

// line passes a line of the command on, if the limits allow it. The command is not stopped by them.
func (s *sink) line(stream app.Stream, line []byte) {
	ok, note := s.allow(len(line) + 1)
	if note != "" {
		s.say(family.StreamSystem, note)
	}
	if ok {
		s.say(stream, clean(line))
	}
}

// allow takes n bytes from what may be passed on. The note is for the one who reads the output.
func (s *sink) allow(n int) (ok bool, note string) {
	s.toll.Lock()
	defer s.toll.Unlock()
	if s.cut {
		return false, ""
	}
	if s.left -= n; s.left < 0 {
		s.cut = true
		s.gone = 0
		return false, family.OutputCut + "it's longer than " + humanize.Bytes(int64(s.all)) + ", and the rest isn't kept. The command keeps running."
	}
	if s.may < n {
		now := time.Now()
		s.may = min(s.most, s.may+int(min(now.Sub(s.asOf), time.Minute).Seconds()*float64(s.rate)))
		s.asOf = now
		if s.may < n {
			s.gone++
			return false, ""
		}
	}
	if s.may == s.most {
		s.asOf = time.Now()
	}
	s.may -= n
	return true, s.leftOut()
}

// leftOut words what was left out, once.
func (s *sink) leftOut() string {
	if s.gone == 0 {
		return ""
	}
	defer func() { s.gone = 0 }()
	return family.OutputCut + fmt.Sprintf("%s omitted, since there was more than %s a second",
		humanize.CountOf(s.gone, "line", "lines"), humanize.Bytes(int64(s.rate)))
}

// shut makes sure that out is never called again. Calls that have begun are waited for.
func (s *sink) shut() {
	s.toll.Lock()
	note := s.leftOut()
	s.toll.Unlock()
	if note != "" {
		s.say(family.StreamSystem, note)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
}

// quiet reports whether nothing has come for a while, although the readers wait for more.
func (s *sink) quiet(while time.Duration) bool {
	return s.busy.Load() == 0 && time.Since(time.Unix(0, s.last.Load())) > while
}

// read splits r into lines until it ends. A last line without a line break counts; first, if not nil, sees every line
// and keeps those from being passed on for which it returns true.
func (s *sink) read(stream app.Stream, r io.Reader, first func(line []byte) (rest []byte, mine bool)) {
	readLines(r, s.working, func(line []byte) {
		if first != nil {
			rest, mine := first(line)
			if mine && len(rest) == 0 {
				return
			}
			line = rest
		}
		s.line(stream, line)
	})
}

// working counts the readers that are working, by one more or less.
func (s *sink) working(by int64) {
	s.last.Store(time.Now().UnixNano())
	s.busy.Add(by)
}

// readLines returns the lines of r to pass until r ends, and tells when it begins and ceases to work (1, -1).
func readLines(r io.Reader, working func(by int64), pass func(line []byte)) {
	// It grows with what comes and shrinks again: thousands of commands may wait at the same time.
	buf := make([]byte, 0, chunkFirst)
	line := func(l []byte) { pass(bytes.TrimSuffix(l, []byte("\r"))) }
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		working(1)
		full := len(buf)+n == cap(buf)
		buf = buf[:len(buf)+n]
		rest := buf
		for {
			i := bytes.IndexByte(rest[:min(len(rest), lineMax+1)], '\n')
			if i < 0 && len(rest) <= lineMax {
				break
			}
			if i >= 0 {
				line(rest[:i])
				rest = rest[i+1:]
				continue
			}
			cut := cutAt(rest, lineMax)
			line(rest[:cut])
			rest = rest[cut:]
		}
		if err != nil && len(rest) > 0 {
			line(rest)
		}
		buf = resized(buf, rest, full)
		working(-1)
		if err != nil {
			return
		}
	}
}

// resized returns a buffer that begins with rest, which is the end of buf, and has room behind it.
func resized(buf, rest []byte, full bool) []byte {
	size := cap(buf)
	switch {
	case full && size < 2*lineMax:
		size *= 2
	case len(rest) == 0 && size > chunkFirst && !full:
		size = chunkFirst
	}
	if size == cap(buf) {
		return append(buf[:0], rest...)
	}
	return append(make([]byte, 0, size), rest...)
}

// cutAt returns a cut <= limit that does not go through a character, nor through a token, whose rest may be about to come.
func cutAt(b []byte, limit int) int {
	if i := limit - tokenSize + bytes.LastIndexByte(b[limit-tokenSize:limit], tokenPrefix[0]); i >= limit-tokenSize {
		if n := min(limit-i, len(tokenPrefix)); string(b[i:i+n]) == tokenPrefix[:n] {
			return i
		}
	}
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
