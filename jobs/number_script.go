package jobs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app/humanize"
	"muster/app/scaling"
	"muster/app/template"
)

// numberAnswer is the word that opens lines of scripts that print numbers, behind the mark of the checks.
const numberAnswer = "number"

// numberScript is what a node runs to tell its numbers, beside its health checks.
func numberScript(list []scaling.Number, services []string) string {
	var b strings.Builder
	for i, n := range list {
		fmt.Fprintf(&b, `( MUSTER_SERVICES=%s MUSTER_CHECK=%s; export MUSTER_SERVICES MUSTER_CHECK
muster_o=$({ muster_command %d </dev/null; echo "=$?"; } 2>&1 | tail -c 600 | tr '\n\r\0' '   ')
muster_c=${muster_o##*=}
printf '%%s %s %d %%s %%s\n' "$muster_mark" "${muster_c%%%% *}" "${muster_o%%=*}" ) &
`, humanize.ShellQuote(strings.Join(services, " ")), humanize.ShellQuote(n.Script), int(template.ScalingScriptTime.Seconds()), numberAnswer, i)
	}
	return b.String()
}

// numbersOf are the scripts that a node with these services runs.
func numbersOf(all []scaling.Number, services []string) (list []scaling.Number) {
	for _, n := range all {
		if n.Service == "" || slices.Contains(services, n.Service) {
			list = append(list, n)
		}
	}
	return list
}

// readNumber reads the rest of a line: which script, how it ended, and what it said.
func readNumber(node string, asked []scaling.Number, rest string) (scaling.NodeNumber, bool) {
	number, rest, _ := strings.Cut(rest, " ")
	exit, said, _ := strings.Cut(rest, " ")
	i, err := strconv.Atoi(number)
	code, bad := strconv.Atoi(exit)
	if err != nil || bad != nil || i < 0 || i >= len(asked) {
		return scaling.NodeNumber{}, false
	}
	n := scaling.NodeNumber{Node: node, Name: asked[i].Name}
	n.Value, n.Wrong = scaling.ReadNumber(code, said)
	return n, true
}
