package shell

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"muster/app"
)

// prologue finds the state root, and removes the working directories of scripts that are not there any more: they are
// named by process id and a token. A node whose environment has MUSTER_STATE_ROOT keeps its state there, which is for nodes that share
// a file system with others.
const prologue = `muster_mask=$(umask)
umask 022
if [ "$(id -u)" = 0 ]; then muster_root=/var/lib/muster; else muster_root=$HOME/.muster; fi
muster_root=${MUSTER_STATE_ROOT:-$muster_root}
mkdir -p "$muster_root/.run" && chmod 700 "$muster_root/.run" || { echo "$muster_root cannot be written" >&2; exit 1; }
for muster_dir in "$muster_root"/.run/*; do
muster_pid=${muster_dir##*/}
[ ! -d "$muster_dir" ] || kill -0 "${muster_pid%%.*}" 2>/dev/null || rm -rf "$muster_dir"
done
`

const bootstrapLine = prologue + `for muster_tool in cat chmod id mkdir rm sh; do
command -v "$muster_tool" >/dev/null || { echo "$muster_tool is missing" >&2; exit 1; }
done
`

// runLine reads from standard input what is to be done, since a command line is seen by everyone on the node, and does it in
// a working directory that goes away with it.
func runLine(token string) string {
	return prologue + "muster_dir=$muster_root/.run/$$." + token + `
umask 077
trap 'rm -rf "$muster_dir"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$muster_dir" || exit 1
eval "$(cat)"
exit 1
`
}

// sweepLine removes the working directory of a run that was killed. By its process id alone it could still seem to be
// there, until the node's init has taken notice.
func sweepLine(token string) string {
	return prologue + `rm -rf "$muster_root"/.run/*.` + token
}

// payload writes what runLine reads: variables, configuration, script, and the call. It is one group of commands, so that
// sh does nothing at all with half of it.
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
	end := newToken()
	file := func(name, text string) {
		fmt.Fprintf(&b, "cat >\"$muster_dir/%s\" <<'%s' || exit 1\n%s\n%s\n", name, end, text, end)
	}
	b.WriteString("{\n")
	file("config.json", string(config))
	file("script", script)
	for _, v := range append(identityVars(call), vars...) {
		fmt.Fprintf(&b, "%s=%s; export %s\n", v.name, app.ShellQuote(v.value), v.name)
	}
	b.WriteString("MUSTER_CONFIG=$muster_dir/config.json MUSTER_STATE=$muster_root/" + app.ShellQuote(service) + "\n" +
		"export MUSTER_CONFIG MUSTER_STATE\n" +
		"umask 022\nmkdir -p \"$MUSTER_STATE\" || exit 1\numask \"$muster_mask\"\n")
	for _, w := range interpreter(script) {
		b.WriteString(app.ShellQuote(w) + " ")
	}
	b.WriteString("\"$muster_dir/script\"")
	for _, w := range args {
		b.WriteString(" " + app.ShellQuote(w))
	}
	b.WriteString(" </dev/null\nexit\n}\n")
	return b.String(), warnings, nil
}

// newToken gives a word that no text holds by accident.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return "muster-" + hex.EncodeToString(b[:])
}
