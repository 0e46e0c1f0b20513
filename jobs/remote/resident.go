package remote

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

// resident is a shell on the node that stays for as long as the connection is used, and carries out one command under a claim
// after the other, each in a process group of its own. A session for every command would cost the node more than most
// commands do: a fork of sshd, a login shell, and the wrapper to read.
//
// It is a bash, since no other usual sh gives its children groups of their own without a terminal. Where there is
// none, where two commands are run at the same time, where sudo is needed, the input is no text, or a claim is to be looked at closely, a
// session of its own is taken. Everything that holds for a command there holds here as well; the wrapper is the same text, as a
// function that is sent when it is first needed. There are two differences. The environment is that of the
// resident, so a command does not see what one before it has changed in the files that a login reads. And what processes
// say that commands have left behind may get among the lines of later commands: so only commands that run once, of whose output
// no more is made than to show it, follow one that ran once. As soon as such lines are noticed, a new resident is taken.
//
// It is asked by a line of words and the texts whose lengths it gives: functions, the command line, the input.
// Both outputs of the command end with an empty line and a line "token end code". Where that could be missed, since somebody
// else reads its outputs or a process of its group is left, the resident ends instead, with the command's exit code.
type resident struct {
	token string
	// By who has borrowed it:
	ch    ssh.Channel
	reqs  <-chan *ssh.Request
	known map[string]bool // functions that it has

	mu      sync.Mutex
	greeted bool
	turn    *running // the command whose lines come now, or came last
	closed  int      // outputs that have ended
	stray   bool     // something was said that belongs to no command, or it has ended
}

const residentScript = `u=$1
case $BASH_VERSION in ""|[1-3].*|4.0*) exit 126 ;; esac
set -m
case $- in *m*) ;; *) exit 126 ;; esac
exec 3<&0 </dev/null
` + stateRoot + `D=$d
echo "$u resident" >&2
while IFS=" " read -r -u 3 t w a n m o x; do
eval "$x"
y= x=
[ "$n" = 0 ] || { LC_ALL=C read -r -N "$n" -u 3 y && eval "$y"; } || exit 125
LC_ALL=C read -r -N "$m" -u 3 y || exit 125
[ "$o" = 0 ] || LC_ALL=C read -r -N "$o" -u 3 x || exit 125
{ set +m; q=$BASHPID d=$D; "$w" "" "$t" n "" "$y" "" "" "$a"; } &
q=$!
{
wait "$q"
s=$?
while [ "$s" -gt 128 ] && kill -0 "$q"; do
sleep 1
wait "$q"
s=$?
done
[ ! -e "$D/.claims/$p/a.$i.$h.$e.${t#muster-}" ] || exit "$s"
! kill -0 -- "-$q" || exit "$s"
} 2>/dev/null
echo "
$t end $s"
echo "
$t end $s" >&2
done
exit 125
`

// residentClaim is quickClaim as a function of a resident, whose command line has the resident's token and not the command's.
var residentClaim = "muster_claim() {\n" + inResident(strings.ReplaceAll(quickClaim, `"p $$ $t"`, `"p $$ $u"`)) + "}\n"

// inResident gives a script as a function's, where $$ is not the process that carries it out.
func inResident(script string) string { return strings.ReplaceAll(script, "$$", "$q") }

// fitsResident tells whether a resident can carry it out.
func (v invocation) fitsResident(in input) bool {
	return v.claim != "" && !v.full && !v.sudo && in.stream == nil && len(in.data) <= inputTextMax && bytes.IndexByte(in.data, 0) < 0 &&
		len(v.line) > 0 && strings.IndexByte(v.line, 0) < 0
}

// function gives the name of the wrapper that it needs, and its text.
func (v invocation) function(text bool) (name, script string) {
	v.resident, v.input = true, inputNone
	name = "muster_run"
	if text {
		v.input, name = inputText, name+"_text"
	}
	if v.once {
		name += "_once"
	}
	if v.variable {
		name += "_variable"
	}
	if s, ok := residentFunctions.Load(name); ok {
		return name, s.(string)
	}
	script = name + "() {\n" + inResident(v.wrapper()) + "}\n"
	residentFunctions.Store(name, script)
	return name, script
}

var residentFunctions sync.Map // by name

// ask gives what is sent to have it carried out.
func (s *resident) ask(v invocation, in input) []byte {
	name, script := v.function(len(in.data) > 0)
	functions := ""
	if len(s.known) == 0 {
		functions = residentClaim
	}
	if !s.known[name] {
		functions += script
		s.known[name] = true
	}
	b := make([]byte, 0, len(functions)+len(v.line)+len(in.data)+256)
	b = fmt.Appendf(b, "%s %s %d %d %d %d %s\n", v.token, name, v.alone, len(functions), len(v.line), len(in.data), v.claim)
	return append(append(append(b, functions...), v.line...), in.data...)
}

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
	blank := 0        // empty lines that may belong to an end
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
		if stream == app.StreamErr {
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
		if stream == app.StreamErr && s.greets(line) {
			return
		}
		r := current()
		if r == nil {
			return
		}
		if len(line) == 0 {
			blank++
			return
		}
		after, found := bytes.CutPrefix(line, []byte(r.token+" end "))
		if found && blank > 0 {
			blank--
		}
		for ; blank > 0; blank-- {
			pass(r, nil)
		}
		if !found {
			pass(r, line)
			return
		}
		if code, err := strconv.Atoi(string(after)); err == nil {
			r.result.Store(int32(code & 0xff))
		}
		over = r
		r.silent()
	})
	s.mu.Lock()
	s.closed++
	s.stray = true
	r := s.turn
	s.mu.Unlock()
	if r != nil && r != over {
		for ; blank > 0; blank-- {
			pass(r, nil)
		}
		r.silent()
	}
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
		"exec bash --norc --noprofile -c " + app.ShellQuote(residentScript) + " muster " + s.token,
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

// borrow gives the resident of the connection to who has a command for it; nil where none can be had now.
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
