package shell

import (
	"fmt"
	"strings"

	"muster/app"
)

// prologue finds the state root, and removes the working directories of scripts that are not there any more: they are
// named by process id and a token. A node whose environment has MUSTER_STATE_ROOT keeps its state there, which is for nodes that share
// a file system with others. In the usual case it starts no program.
const prologue = `if [ -n "${MUSTER_STATE_ROOT-}" ]; then muster_root=$MUSTER_STATE_ROOT
elif [ -O / ] 2>/dev/null || [ "$(id -u)" = 0 ]; then muster_root=/var/lib/muster
else muster_root=$HOME/.muster; fi
[ -d "$muster_root/.run" ] || (umask 022; mkdir -p "$muster_root" && mkdir -m 700 "$muster_root/.run") || [ -d "$muster_root/.run" ]
[ -w "$muster_root/.run" ] || { echo "$muster_root cannot be written" >&2; exit 1; }
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

const bootstrapLine = prologue + `for muster_tool in cat chmod id mkdir rm sh; do
command -v "$muster_tool" >/dev/null || { echo "$muster_tool is missing" >&2; exit 1; }
done
`

// runLine reads from standard input what is to be done, since a command line is seen by everyone on the node, and does it with
// files that go away with it: in a working directory, or where the shell that it is given sees to them; then nothing has to be done
// after the script. It is the same for every call.
const runLine = prologue + `if [ -n "${muster_scratch-}" ]; then
muster_dir=$muster_scratch. muster_exec=exec
else
muster_exec=
muster_dir=$muster_root/.run/$$.run
trap 'rm -rf "$muster_root/.run/$$.run"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
rm -rf "$muster_dir" 2>/dev/null
mkdir -m 700 "$muster_dir" || exit 1
muster_dir=$muster_dir/
fi
if [ -n "${muster_input-}" ]; then eval "$muster_input"
elif [ -r /dev/stdin ]; then . /dev/stdin; else eval "$(cat)"; fi
exit 1
`

// payload writes what runLine reads: variables, configuration, script, and the call. It is one group of commands, so that
// sh does nothing at all with half of it, and the same text for the same call, so that it can be told whether that was
// done before.
func payload(call app.ServiceCall) (text string, warnings []string, err error) {
	service := call.Service
	if service == "" || strings.HasPrefix(service, ".") || strings.ContainsAny(service, "/\x00\n") {
		return "", nil, &app.Error{Code: app.EInvalid, Field: "name", Message: fmt.Sprintf("%q cannot be the name of a service.", service)}
	}
	args, err := words(call.Fields["args"])
	if err != nil {
		return "", nil, err
	}
	vars, config, warnings, err := flatten(call.Config)
	if err != nil {
		return "", nil, err
	}
	script := strings.ReplaceAll(call.Fields["script"], "\r\n", "\n")

	var b strings.Builder
	file := func(name, text string) {
		b.WriteString("printf '%s\\n' " + app.ShellQuote(text) + " >\"${muster_dir}" + name + "\" || exit 1\n")
	}
	b.WriteString("{\n")
	file("config.json", string(config))
	file("script", script)
	for _, v := range append(identityVars(call), vars...) {
		fmt.Fprintf(&b, "%s=%s; export %s\n", v.name, app.ShellQuote(v.value), v.name)
	}
	b.WriteString("MUSTER_CONFIG=${muster_dir}config.json MUSTER_STATE=$muster_root/" + app.ShellQuote(service) + "\n" +
		"export MUSTER_CONFIG MUSTER_STATE\n" +
		"[ -d \"$MUSTER_STATE\" ] || (umask 022; mkdir -p \"$MUSTER_STATE\") || exit 1\n")
	b.WriteString("$muster_exec ")
	for _, w := range interpreter(script) {
		b.WriteString(app.ShellQuote(w) + " ")
	}
	b.WriteString("\"${muster_dir}script\"")
	for _, w := range args {
		b.WriteString(" " + app.ShellQuote(w))
	}
	b.WriteString(" </dev/null\nexit\n}\n")
	return b.String(), warnings, nil
}
