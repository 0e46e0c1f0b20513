package remote

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"

	"golang.org/x/crypto/ssh"
)

// resident is a shell on the node that stays for as long as the connection is used, and carries out one command under a claim
// after the other, each in a process group of its own. A session for every command would cost the node more than most
// commands do: a fork of sshd, a login shell, and the wrapper to read.
//
// It is a bash, since no other usual sh returns its children groups of their own without a terminal. Where there is
// none, where two commands are run at the same time, where sudo is needed, the input is no text, or a claim is to be looked at closely, a
// session of its own is taken. Everything that holds for a command there holds here as well. There are two differences. The
// environment is that of the resident, so a command does not see what one before it has changed in the files that a login reads. And what
// processes say that commands have left behind may get among the lines of later commands: so only commands that run once, of whose output
// no more is made than to show it, follow one that ran once. As soon as such lines are noticed, a new resident is taken.
//
// What it is sent is at residentScript. Both outputs of the command end with the words "token end code", after the last
// line or behind what is left of one. Where that could be missed, since someone
// else reads its outputs or a process of its group is left, the resident ends instead, with the command's exit code.
type resident struct {
	token string
	// By who has borrowed it:
	ch    ssh.Channel
	reqs  <-chan *ssh.Request
	known map[string]bool // functions that it has
	line  string          // the command line that it was given last

	mu      sync.Mutex
	greeted bool
	turn    *running // the command whose lines come now, or came last
	closed  int      // outputs that have ended
	stray   bool     // something was said that belongs to no command, or it has ended
}

// fitsResident reports whether a resident can carry it out.
func (v invocation) fitsResident(in input) bool {
	return v.claim != "" && !v.full && !v.sudo && in.stream == nil && len(in.data) <= inputTextMax && bytes.IndexByte(in.data, 0) < 0 &&
		len(v.line) > 0 && strings.IndexByte(v.line, 0) < 0
}

// ask returns what is sent to have it carried out, see residentScript.
func (s *resident) ask(v invocation, in input) []byte {
	name, script := v.function(len(in.data) > 0)
	line := v.line
	if s.known[name] {
		script = ""
	}
	if s.line == line {
		line = ""
	}
	s.known[name], s.line = true, v.line
	b := make([]byte, askHead, askHead+len(v.token)+len(name)+len(v.claim)+16+len(script)+len(line)+len(in.data))
	b = append(append(append(append(b, v.token...), ' '), name...), ' ')
	b = append(append(append(strconv.AppendInt(b, int64(v.alone), 10), ' '), v.claim...), '\n')
	words := len(b) - askHead
	b = append(append(append(b, script...), line...), in.data...)
	copy(b, fmt.Sprintf("%-8d%-8d%-8d%-8d%-8d", len(b)-askHead, words, len(script), len(line), len(in.data)))
	return b
}

// askHead is how long the head of what is asked is.
const askHead = 40

// serve makes r the command whose lines come from now on.
func (s *resident) serve(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = r
	for range s.closed {
		r.silent()
	}
}

func (s *resident) hasGreeted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.greeted
}

// read passes the lines of one output on to the commands that say them, until it ends.
func (s *resident) read(stream app.Stream, in io.Reader) {
	var over *running // its end was seen
	current := func() *running {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.turn == nil || s.turn == over {
			s.stray = true
			return nil
		}
		return s.turn
	}
	pass := func(r *running, line []byte) {
		if stream == family.StreamErr {
			rest, mine := r.hello(line)
			if mine && len(rest) == 0 {
				return
			}
			line = rest
		}
		r.sink.line(stream, line)
	}
	var at *sink // that of the turn when the reader began to work
	readLines(in, func(by int64) {
		if by > 0 {
			s.mu.Lock()
			if at = nil; s.turn != nil {
				at = s.turn.sink
			}
			s.mu.Unlock()
		}
		if at != nil {
			at.working(by)
		}
	}, func(line []byte) {
		if stream == family.StreamErr && s.greets(line) {
			return
		}
		r := current()
		if r == nil {
			return
		}
		before, code, found := r.end(line)
		if !found {
			pass(r, line)
			return
		}
		if len(before) > 0 { // a last line without a line break
			pass(r, bytes.TrimSuffix(before, []byte("\r")))
		}
		r.result.Store(int32(code & 0xff))
		over = r
		r.silent()
	})
	s.mu.Lock()
	s.closed++
	s.stray = true
	r := s.turn
	s.mu.Unlock()
	if r != nil && r != over {
		r.silent()
	}
}

// end takes the end of the command out of a line, and returns what precedes it.
func (r *running) end(line []byte) (before []byte, code int, found bool) {
	i := bytes.LastIndex(line, []byte(" end "))
	if i < 0 {
		return nil, 0, false
	}
	before, found = bytes.CutSuffix(line[:i], []byte(r.token))
	if !found {
		return nil, 0, false
	}
	code, err := strconv.Atoi(string(line[i+len(" end "):]))
	return before, code, err == nil
}

// greets takes the line by which it tells that it is there.
func (s *resident) greets(line []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.greeted || !bytes.HasSuffix(line, []byte(s.token+" resident")) {
		return false
	}
	s.greeted = true
	return true
}

// request is how it is begun.
func (s *resident) request() []byte {
	return ssh.Marshal(struct{ Command string }{
		"exec bash --norc --noprofile -c " + humanize.ShellQuote(residentScript) + " muster " + s.token,
	})
}

// residence is the resident of a connection.
type residence struct {
	mu   sync.Mutex
	here *resident
	lent bool
	once bool // something that runs once has been run by it
	none bool // there can be none on this machine
}

// borrow returns the resident of the connection to who has a command for it; nil where none can be had now.
func (h *residence) borrow(once bool) *resident {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.none || h.lent {
		return nil
	}
	if s := h.here; s != nil {
		s.mu.Lock()
		if s.stray {
			_ = s.ch.Close()
			go ssh.DiscardRequests(s.reqs)
			h.here = nil
		}
		s.mu.Unlock()
	}
	switch {
	case h.here == nil:
		h.here, h.once = &resident{token: newToken(), known: map[string]bool{}}, false
	case h.once && !once:
		return nil
	}
	h.lent, h.once = true, h.once || once
	return h.here
}

// giveBack ends a loan. A resident that is not to be kept is for its borrower to close.
func (h *residence) giveBack(keep bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lent = false
	if !keep {
		h.here = nil
	}
}

// cannot notes that there can be none.
func (h *residence) cannot() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.none = true
}
