package remote

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
	"sync"

	"muster/app"
	"muster/app/humanize"
)

// wrapper returns what runs on the node around a command line. It has only the parts that this command needs, since the node
// reads all of it, and that takes a shell longer than one would think. Its arguments are: 1 itself, 2 a token, 3 how far it
// is (n or y, which asks for root; s, under sudo; l, leading a group), 4 how to treat the standard input, 5 the command line,
// 6 the script that checks the claim, 7 the record of this run, 8 how many seconds a command that runs once may run
// alone. What it does, in this order:
//
//   - check the claim, see claim.go;
//   - become root when asked to and not root already, by running itself under sudo;
//   - lead a process group of its own. OpenSSH has seen to that already; for other servers there is setsid. "-$$"
//     exists exactly when we lead a group. OpenSSH also leaves a command alone whose connection is cut; a server that does
//     not present itself as one of that kind may end the session's whole group, so what runs once leaves that group;
//   - tell token and process id as a first line on the standard error. A client that misses that line knows that the
//     command never started: no sudo, no shell;
//   - standard input "stream": it is the command's, and there is no lifeline. "none": the command has /dev/null.
//     "l" and a number: so many lines of text, kept in a variable. "h" and a number: so many bytes of text, of which the
//     last are the token, likewise. A number: that many bytes are the command's, by way of an unlinked file. Except with a stream, the rest of the standard input is the
//     lifeline, on which nothing comes but the word kill and its end;
//   - on the word, or on the end where the command does not run once: ask the group to go, and five seconds later make
//     it. Where it runs once, on the end let it continue: hold its outputs open and keep the first 64 KiB of each for the
//     attempt that takes over, until the time is up;
//   - empty the files that a command that runs once has made beside its record, since they may hold secrets.
//
// A resident shell has a function instead, without the parts that it sees to itself: see residentFunction.
//
// Where the command was asked to go, whatever is left of its group goes with the wrapper, since no one would see to it later.
// It is asked twice: a shell that has just forked loses a signal. The watcher of the lifeline is killed outright in the end: one that was only just
// forked may lose a milder signal, and
// would then end what the command had left behind. The wrapper holds no backslash and nothing else that login shells which
// are not sh would read differently inside quotes.
func (v invocation) wrapper() string {
	var b strings.Builder
	part := func(when bool, text string) {
		if when {
			b.WriteString(text)
		}
	}
	claim, stream := v.claim != "", v.input == inputStream
	text := strings.HasPrefix(v.input, inputLines) || strings.HasPrefix(v.input, inputText)
	part(claim, `r=$7
case $3 in [ny]) eval "$6" ;; esac
`)
	part(v.sudo, `if [ "$3" = y ] && [ "$(id -u)" != 0 ]; then
w=$1 t=$2 m=$4 c=$5 a=$8
exec sudo -n -E -- sh -c 'eval "$1"' muster "$w" "$t" s "$m" "$c" "" "$r" "$a"
fi
`)
	part(true, `if [ "$3" != l ] && ! kill -0 "-$$" 2>/dev/null && command -v setsid >/dev/null; then
exec setsid sh -c 'eval "$1"' muster "$1" "$2" l "$4" "$5" "" "$r" "$8"
fi
`)
	part(v.once, `if [ "$3" != l ] && [ -z "$SSH_CONNECTION" ] && command -v setsid >/dev/null; then
exec 3<&0
trap : TERM HUP
setsid sh -c 'eval "$1"' muster "$1" "$2" l "$4" "$5" "" "$r" "$8" <&3 3<&- &
p=$!
exec 3<&-
while wait "$p"; c=$?; kill -0 "$p" 2>/dev/null; do :; done
exit "$c"
fi
`)
	part(true, `echo "$2 $$ $SHELL" >&2
`)
	part(claim, `[ "$3" = n ] || { echo "p $$ $2" >>"$r"; } 2>/dev/null || { echo "$2 nostate ${r%/r.*}" >&2; exit 125; }
MUSTER_RUN=$2; export MUSTER_RUN
`)
	part(v.once, `s=${r%/r.*}/s.${r##*/r.}
clean() { for f in "$s".*; do [ ! -s "$f" ] || true >"$f"; done; }
`)
	if stream && !claim {
		b.WriteString(`exec sh -c "$5"`)
		return b.String()
	}
	b.WriteString(v.readInput())
	part(v.once, `if [ -p /proc/self/fd/1 ] && [ -p /proc/self/fd/2 ]; then
exec 4>&2
{ command exec 7</proc/self/fd/1 8</proc/self/fd/4; } 2>/dev/null
exec 4>&-
fi
`)
	part(!stream, `k=
trap k=y TERM HUP
{
read -r k
`)
	part(v.once, `if [ "$k" != kill ]; then
umask 022
n=${r##*/r.}
{ head -c 65536 >"${r%/r.*}/o.$n"; exec cat; } <&7 7<&- 8<&- &
{ head -c 65536 >"${r%/r.*}/v.$n"; exec cat; } <&8 7<&- 8<&- &
n=$8
while [ "$n" -gt 0 ]; do
sleep 5
kill -0 "$$" || exit
n=$((n-5))
done
fi
`)
	part(!stream, `trap "" TERM HUP
kill -TERM "-$$"
sleep 0.3 2>/dev/null || sleep 1
kill -TERM "-$$"
sleep 5
`)
	part(v.once, `clean
`)
	part(!stream, `kill -KILL "-$$"
} <&3 3<&- >/dev/null 2>&1 &
w=$!
`)
	// What runs once is run by a fork of this shell, which saves the start of another one.
	run, rest := `sh -c "$5" 3<&-`, ""
	if v.once {
		given := ""
		if text && v.variable {
			given = " muster_input=$x"
		}
		run = `( exec 3<&- 7<&- 8<&-; muster_scratch=$s` + given + `; trap "exit 143" TERM HUP; eval "$5" )`
	}
	if text && !v.variable {
		rest = ` <<muster
$x
muster`
	}
	part(!stream, `c=143
[ -n "$k" ] ||
{
`)
	part(true, run+rest+`
c=$?
`)
	part(!stream, `}
`)
	part(v.once, `clean
`)
	part(claim, `echo "$c" >"${r%/r.*}/x.${r##*/r.}"
`)
	part(!stream, `exec 2>/dev/null
kill -KILL "$w"
`)
	part(!stream, `[ -z "$k" ] || kill -KILL "-$$"
`)
	part(true, `exit "$c"
`)
	return b.String()
}

// readInput returns the part that takes the standard input as the wrapper is set to, and leaves the lifeline open.
func (v invocation) readInput() string {
	switch {
	case v.input == inputStream:
		return ""
	case v.input == inputNone:
		return `exec 3<&0 </dev/null
`
	case strings.HasPrefix(v.input, inputLines):
		return `exec 3<&0 </dev/null
x= n=${4#l}
while [ "$n" -gt 0 ] && IFS= read -r l; do
x=$x$l"
"
n=$((n-1))
done <&3
[ "$n" = 0 ] || { echo "$2 stdin" >&2; exit 125; }
x=${x%"
"}
`
	case strings.HasPrefix(v.input, inputText):
		return `exec 3<&0 </dev/null
x=$(head -c "${4#h}" <&3)
case $x in *"$2") x=${x%"$2"} ;; *) echo "$2 stdin" >&2; exit 125 ;; esac
`
	}
	return `f=$(mktemp) && exec 3<&0 && head -c "$4" <&3 >"$f" && exec <"$f" && n=$(wc -c <"$f") && rm -f "$f" && [ "$n" -eq "$4" ] ||
{ rm -f "$f"; echo "$2 stdin" >&2; exit 125; }
`
}

const (
	inputStream = "stream"
	inputNone   = "none"
	inputLines  = "l" // and the number of lines
	inputText   = "h" // and the number of bytes

	// inputLinesMax is the longest standard input that the shell on the node reads by itself, byte by byte, sooner than a
	// program could be started for it.
	inputLinesMax = 3 << 10
	// inputTextMax is the longest standard input that is kept in a variable on the node, which takes fewest programs.
	inputTextMax = 64 << 10
	// inputFileMax is the longest standard input that takes the way over a file on the node.
	inputFileMax = 8 << 20
	// commandMax bounds one argument of a program; Linux allows 128 KiB.
	commandMax = 112 << 10
)

var quotedClaim, quotedFullClaim = humanize.ShellQuote(quickClaimScript), humanize.ShellQuote(claimScript)

// quotedWrappers keeps the few wrappers, ready to be sent.
var quotedWrappers sync.Map // of variant, string

// variant is what a wrapper depends on.
type variant struct {
	sudo, once, claim, variable bool
	input                       byte
}

func (v invocation) quotedWrapper() string {
	kind := variant{v.sudo, v.once, v.claim != "", v.variable, v.input[0]}
	if kind.input <= '9' {
		kind.input = '0'
	}
	if w, ok := quotedWrappers.Load(kind); ok {
		return w.(string)
	}
	w := humanize.ShellQuote(v.wrapper())
	quotedWrappers.Store(kind, w)
	return w
}

// invocation is what one session is to run.
type invocation struct {
	token string
	input string
	line  string
	sudo  bool
	claim string // the settings of the script that checks the claim, which hold no quotes
	full  bool   // the claim is to be looked at closely
	once  bool
	fork  bool // the line may be run by a fork of a resident
	alone int  // seconds
	// variable tells that a text goes into the variable muster_input of what runs once, and not to its standard input.
	variable bool
}

// request returns the payload of the request to run it. A login shell that is known to be an sh need not start another one
// to read the wrapper. It is put together in one piece, since it is by far the longest thing that is said to a node.
func (v invocation) request(plainShell bool) ([]byte, error) {
	line := humanize.ShellQuote(v.line)
	if len(v.line) > commandMax || len(line) > commandMax {
		return nil, app.Errorf(app.ETooLarge, "The command line is %d bytes long; the limit is %d. Send it on standard input instead.", len(line), commandMax)
	}
	wrapper, claim := v.quotedWrapper(), quotedClaim
	if v.full {
		claim = quotedFullClaim
	}
	b := make([]byte, 4, len(wrapper)+len(claim)+len(line)+len(v.claim)+256)
	if plainShell {
		b = append(b, "set -- "...)
	} else {
		b = append(b, `exec sh -c 'eval "$1"' muster `...)
	}
	word := func(w string) { b = append(append(b, ' '), w...) }
	word(wrapper)
	word(v.token)
	word(either(v.sudo, "y", "n"))
	word(v.input)
	word(line)
	if v.claim == "" {
		word("''")
	} else {
		word("'")
		b = append(append(append(b, v.claim...), '\n'), claim[1:]...)
	}
	word("''")
	word(strconv.Itoa(v.alone))
	if plainShell {
		b = append(b, plainSuffix...)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b, nil
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

const plainSuffix = `; eval "$1"`

// plainShell tells login shells that read the wrapper as sh does, and as fast. bash is not among them: it takes longer to
// read the wrapper than to start a small sh that reads it.
func plainShell(file string) bool {
	switch path.Base(file) {
	case "sh", "dash", "ash":
		return true
	}
	return false
}

// killer ends the process group of a command from a second session, and empties the files of one that runs once: the processes that
// do so otherwise belong to the group, or are late.
func (r *running) killer() string {
	p := strconv.FormatInt(r.pid.Load(), 10)
	clean := ""
	if r.once {
		clean = stateRoot + `for f in "$d/.claims/"` + humanize.ShellQuote(r.claim.Place) + "/s.*." + strings.TrimPrefix(r.token, tokenPrefix) + `.*; do [ ! -s "$f" ] || true >"$f"; done; `
	}
	ended := ""
	if r.code >= 0 || r.reqs == nil { // the command itself has, and perhaps all of its group
		ended = "kill -0 -" + p + " 2>/dev/null || exit 0; "
	}
	return ended + "kill -TERM -" + p + " 2>/dev/null || kill -TERM " + p + "; " +
		"for i in 1 2 3 4 5; do kill -0 -" + p + " 2>/dev/null || break; sleep 0.2 2>/dev/null || sleep 1; done; " + clean +
		"kill -KILL -" + p + " 2>/dev/null || kill -KILL " + p
}

// newToken returns a word that no command says by accident.
func newToken() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return tokenPrefix + hex.EncodeToString(b[:])
}

const (
	tokenPrefix = "muster-" // its first letter comes once in a token
	tokenSize   = len(tokenPrefix) + 16
)
