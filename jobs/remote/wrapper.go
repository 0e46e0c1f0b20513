package remote

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"

	"muster/app"
)

// wrapper runs on the node around every command line. Its arguments are: itself, a token, flags, how to treat the
// standard input, the command line. What it does, in this order:
//
//   - become root when asked to ("y") and not root already, by running itself under sudo;
//   - lead a process group of its own. OpenSSH has seen to that already; for other servers there is setsid. "-$$"
//     exists exactly when we lead a group;
//   - tell token and process id as a first line on the standard error. Whoever misses that line knows that the
//     command never started: no sudo, no shell;
//   - standard input "stream": it is the command's, and there is no lifeline. "none": the command has /dev/null.
//     A number: that many bytes are the command's, by way of an unlinked file. In the last two cases the rest of
//     the standard input is the lifeline, on which nothing ever comes but its end;
//   - on that end, ask the group to go, and five seconds later make it.
//
// It holds no backslash and nothing else that login shells which are not sh would read differently inside quotes.
const wrapper = `if [ "$3" = y ] && [ "$(id -u)" != 0 ]; then
w=$1 t=$2 m=$4 c=$5
exec sudo -n -E -- sh -c 'eval "$1"' muster "$w" "$t" n "$m" "$c"
fi
if [ "$3" != l ] && ! kill -0 "-$$" 2>/dev/null && command -v setsid >/dev/null; then
exec setsid sh -c 'eval "$1"' muster "$1" "$2" l "$4" "$5"
fi
echo "$2 $$" >&2
case $4 in
stream) exec sh -c "$5" ;;
none) exec 3<&0 </dev/null ;;
*) f=$(mktemp) && exec 3<&0 && head -c "$4" <&3 >"$f" && exec <"$f" && n=$(wc -c <"$f") && rm -f "$f" && [ "$n" -eq "$4" ] ||
{ rm -f "$f"; echo "$2 stdin" >&2; exit 125; } ;;
esac
trap : TERM HUP
{ read -r x; trap "" TERM HUP; kill -TERM "-$$"; sleep 5; kill -KILL "-$$"; } <&3 3<&- >/dev/null 2>&1 &
w=$!
sh -c "$5" 3<&-
r=$?
exec 2>/dev/null
kill "$w"
exit "$r"
`

const (
	inputStream = "stream"
	inputNone   = "none"

	// inputFileMax is the longest standard input that takes the way over a file on the node.
	inputFileMax = 8 << 20
	// commandMax bounds one argument of a program; Linux allows 128 KiB.
	commandMax = 120 << 10
)

// wrapped gives the line that the machine's login shell is asked to run.
func wrapped(cmd app.Command, token, input string, sudo bool) (string, error) {
	line := app.ShellQuote(cmd.Line)
	if len(cmd.Line) > commandMax || len(line) > commandMax {
		return "", app.Errorf(app.ETooLarge, "The command line has %d bytes; more than %d do not fit. Send it on the standard input.", len(line), commandMax)
	}
	flag := "n"
	if sudo {
		flag = "y"
	}
	return `exec sh -c 'eval "$1"' muster ` + app.ShellQuote(wrapper) + " " + token + " " + flag + " " + input + " " + line, nil
}

// killer ends the process group of a command from a second session.
func killer(pid int) string {
	p := strconv.Itoa(pid)
	return "kill -TERM -" + p + " 2>/dev/null || kill -TERM " + p + "; " +
		"for i in 1 2 3 4 5; do kill -0 -" + p + " 2>/dev/null || exit 0; sleep 0.2 2>/dev/null || sleep 1; done; " +
		"kill -KILL -" + p + " 2>/dev/null || kill -KILL " + p
}

// newToken gives a word that no command says by accident.
func newToken() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "muster-" + hex.EncodeToString(b[:])
}

// sized is an input that knows how much is left of it, as bytes.Reader, strings.Reader and bytes.Buffer do.
type sized interface{ Len() int }

// inputOf says how the wrapper shall treat the standard input of cmd.
func inputOf(cmd app.Command) string {
	if cmd.Stdin == nil {
		return inputNone
	}
	if s, ok := cmd.Stdin.(sized); ok && s.Len() <= inputFileMax {
		return strconv.Itoa(s.Len())
	}
	return inputStream
}
