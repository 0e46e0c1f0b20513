package shell

import (
	"strings"

	"muster/app/family"
	"muster/app/humanize"
	"muster/automators/internal/node"
)

const bootstrapLine = node.Prologue + `for muster_tool in cat chmod id mkdir rm sh; do
command -v "$muster_tool" >/dev/null || { echo "$muster_tool is missing" >&2; exit 1; }
done
`

// runLine reads from standard input what is to be done, since a command line is seen by everyone on the node, and does it with
// files that go away with it: in a working directory, or where the shell that it is given sees to them; then nothing has to be done
// after the script. It is the same for every call.
const runLine = node.Prologue + `if [ -n "${muster_scratch-}" ]; then
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
` + node.Evaluate

// payload writes what runLine reads: variables, configuration, script, and the call. It is one group of commands, so that
// sh does nothing at all with half of it, and the same text for the same call, so that it's known whether that was
// done before.
func payload(call family.ServiceCall) (text string, warnings []string, err error) {
	service := call.Service
	if err := node.Service(service); err != nil {
		return "", nil, err
	}
	args, err := node.Shellwords("args", call.Fields["args"])
	if err != nil {
		return "", nil, err
	}
	vars, config, warnings, err := node.Variables(call.Config)
	if err != nil {
		return "", nil, err
	}
	script := strings.ReplaceAll(call.Fields["script"], "\r\n", "\n")

	var b strings.Builder
	file := func(name, text string) {
		b.WriteString("printf '%s\\n' " + humanize.ShellQuote(text) + " >\"${muster_dir}" + name + "\" || exit 1\n")
	}
	b.WriteString("{\n")
	file("config.json", string(config))
	file("script", script)
	for _, v := range append(node.Identity(call), vars...) {
		b.WriteString(v.Name + "=" + humanize.ShellQuote(v.Value) + "; export " + v.Name + "\n")
	}
	b.WriteString("MUSTER_CONFIG=${muster_dir}config.json MUSTER_STATE=$muster_root/" + humanize.ShellQuote(service) + "\n" +
		"export MUSTER_CONFIG MUSTER_STATE\n" +
		"[ -d \"$MUSTER_STATE\" ] || (umask 022; mkdir -p \"$MUSTER_STATE\") || exit 1\n")
	if call.Resources != "" {
		b.WriteString("MUSTER_RESOURCES=" + humanize.ShellQuote(call.Resources) + "; export MUSTER_RESOURCES\n")
	}
	if tells(call) {
		b.WriteString(node.Outputs(call))
	}
	b.WriteString("$muster_exec ")
	for _, w := range interpreter(script) {
		b.WriteString(humanize.ShellQuote(w) + " ")
	}
	b.WriteString("\"${muster_dir}script\"")
	for _, w := range args {
		b.WriteString(" " + humanize.ShellQuote(w))
	}
	b.WriteString(" </dev/null\nexit\n}\n")
	return b.String(), warnings, nil
}
