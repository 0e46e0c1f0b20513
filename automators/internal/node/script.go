package node

import (
	"fmt"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// Prologue is shell text that finds the state root, as $muster_root, and removes the private directories of commands that are not there any more: they are
// named by process id and a word. A node whose environment has MUSTER_STATE_ROOT keeps its state there, which is for nodes that share
// a file system with others. In the usual case it starts no program.
const Prologue = `if [ -n "${MUSTER_STATE_ROOT-}" ]; then muster_root=$MUSTER_STATE_ROOT
elif [ -O / ] 2>/dev/null || [ "$(id -u)" = 0 ]; then muster_root=/var/lib/muster
else muster_root=$HOME/.muster; fi
[ -d "$muster_root/.run" ] || (umask 022; mkdir -p "$muster_root" && mkdir -m 700 "$muster_root/.run") || [ -d "$muster_root/.run" ]
[ -w "$muster_root/.run" ] || { echo "$muster_root is not writable" >&2; exit 1; }
muster_gone() {
muster_pid=${1##*/}
muster_pid=${muster_pid%%.*}
kill -0 "$muster_pid" 2>/dev/null || return 0
[ -d /proc/self ] || return 1
muster_word=
read -r muster_word 2>/dev/null <"/proc/$muster_pid/cmdline"
[ -z "$muster_word" ]
}
for muster_dir in "$muster_root"/.run/*; do
[ ! -d "$muster_dir" ] || ! muster_gone "$muster_dir" || rm -rf "$muster_dir"
done
`

// Evaluate is shell text that does what its standard input says, or $muster_input: see family.Command.Text.
const Evaluate = `if [ -n "${muster_input-}" ]; then eval "$muster_input"
elif [ -r /dev/stdin ]; then . /dev/stdin; else eval "$(cat)"; fi
exit 1
`

// line is a command line that does what its standard input says (a Script) in a private directory, $muster_dir with a slash at its end, which goes
// away with the
// command however that ends. It is the same for every call of one tool, and shows nothing. Word is the tool's, of lower-case letters.
func line(word string) string {
	return Prologue + `muster_dir=$muster_root/.run/$$.` + word + `
trap 'rm -rf "$muster_root/.run/$$.` + word + `"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
rm -rf "$muster_dir" 2>/dev/null
mkdir -m 700 "$muster_dir" || exit 1
muster_dir=$muster_dir/
` + Evaluate
}

// Alone is Line for tools that are programs of their own and keep more than a few files: it has a process of its own, by whose id the private directory is
// named, whatever shell carries it out. When it's stopped, so is all that the tool has started, also what has left its process group, as the children of
// some tools do: they are known by a variable.
func Alone(word string) string {
	return "exec sh -c " + humanize.ShellQuote(ending+strings.ReplaceAll(line(word), "trap 'exit ", "trap 'muster_end; exit ")) + " muster"
}

const ending = `MUSTER_ALONE=$$.$(date +%s)
export MUSTER_ALONE
muster_end() {
trap "" HUP INT TERM
for muster_process in /proc/[0-9]*; do
[ "${muster_process#/proc/}" = "$$" ] || ! grep -q "MUSTER_ALONE=$MUSTER_ALONE" "$muster_process/environ" 2>/dev/null || kill -TERM "${muster_process#/proc/}" 2>/dev/null
done
}
`

// Script writes what Line does. It is one group of commands, so that sh does nothing at all with half of it.
type Script struct{ b strings.Builder }

// File puts a file into the private directory, with a line break at its end.
func (s *Script) File(name, text string) {
	s.b.WriteString("printf '%s\\n' " + humanize.ShellQuote(text) + " >\"${muster_dir}" + name + "\" || exit 1\n")
}

// Set sets a variable.
func (s *Script) Set(name, value string) {
	s.b.WriteString(name + "=" + humanize.ShellQuote(value) + "\n")
}

// Do adds commands as they stand.
func (s *Script) Do(text string) { s.b.WriteString(strings.TrimSuffix(text, "\n") + "\n") }

// Dof adds commands; every value is quoted for sh.
func (s *Script) Dof(format string, values ...string) {
	quoted := make([]any, len(values))
	for i, v := range values {
		quoted[i] = humanize.ShellQuote(v)
	}
	s.Do(fmt.Sprintf(format, quoted...))
}

// String is the text. Commands in it must not read their standard input.
func (s *Script) String() string { return "{\n" + s.b.String() + "exit\n}\n" }

// Service checks the name of a service, which becomes a name of files.
func Service(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\x00\n") {
		return &app.Error{Code: app.EInvalid, Field: "name", Message: fmt.Sprintf("%q isn't a valid service name.", name)}
	}
	return nil
}

// AtLeast ends the script where a program is older than it must be. Have is a command that writes its version, which begins with the first digit, tool its
// name for people.
func (s *Script) AtLeast(tool, have, want string) {
	s.Do("muster_have=$(" + have + " 2>/dev/null) || muster_have=")
	s.Dof(`muster_have=${muster_have#"${muster_have%%%%[0-9]*}"}
muster_want=%s. muster_had=0${muster_have%%%%[!0-9.]*}.0.0.0.
while [ -n "$muster_want" ]; do
[ "${muster_had%%%%.*}" -le "${muster_want%%%%.*}" ] 2>/dev/null || break
[ "${muster_had%%%%.*}" -ge "${muster_want%%%%.*}" ] || { echo "This node has "%s" ${muster_have%%%%[!0-9.]*}, but the action requires at least "%s >&2; exit 1; }
muster_want=${muster_want#*.} muster_had=${muster_had#*.}
done`, want, tool, want)
}
