package jobs

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// healthPrologue defines how a node looks at itself, with what a minimal Debian has: bash and timeout, or else curl, nc or
// python3. look runs one check beside the others, keeps the end of what it says, and answers in one line.
const healthPrologue = `if [ -n "${MUSTER_STATE_ROOT-}" ]; then muster_root=$MUSTER_STATE_ROOT
elif [ -O / ] 2>/dev/null || [ "$(id -u)" = 0 ]; then muster_root=/var/lib/muster
else muster_root=$HOME/.muster; fi
muster_has() { command -v "$1" >/dev/null 2>&1; }
muster_timed() {
muster_t=$1; shift
if muster_has timeout; then timeout -k 1 "$muster_t" "$@"; else "$@"; fi
}
muster_command() { muster_timed "$1" sh -c 'eval "$MUSTER_CHECK"'; }
muster_tcp() {
if muster_has bash; then muster_timed "$1" bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$2" "$3"
elif muster_has nc; then nc -z -w "$1" "$2" "$3"
elif muster_has python3; then muster_timed "$1" python3 -c 'import socket,sys; socket.create_connection((sys.argv[1], int(sys.argv[2])))' "$2" "$3"
else echo "neither bash nor nc nor python3 is on the node"; return 126; fi
}
muster_http() {
if muster_has bash; then muster_timed "$1" bash -c 'exec 3<>"/dev/tcp/$0/$1" || exit 7
printf "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: muster\r\nAccept: */*\r\nConnection: close\r\n\r\n" "$2" "$3" >&3 || exit 7
IFS= read -r l <&3 || [ -n "$l" ] || { echo "no answer"; exit 7; }
printf "%s" "${l%?}"' "$2" "$3" "$4" "$5"
elif muster_has curl; then muster_timed "$1" curl -sS -g -o /dev/null -w 'HTTP/1.1 %{http_code}' -- "http://$5$4"
elif muster_has python3; then muster_timed "$1" python3 -c 'import http.client,sys
c = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2])); c.request("GET", sys.argv[3]); r = c.getresponse()
print("HTTP/1.1", r.status, r.reason)' "$2" "$3" "$4"
else echo "neither bash nor curl nor python3 is on the node"; return 126; fi
}
look() {
muster_n=$1; shift
muster_o=$({ "$@" </dev/null; echo "=$?"; } 2>&1 | tail -c 600 | tr '\n\r\0' '   ')
muster_c=${muster_o##*=}
printf '%s %s %s %s\n' "$muster_mark" "$muster_n" "${muster_c%% *}" "${muster_o%=*}"
}
`

// nodeCheck is a health check of one service, for one node.
type nodeCheck struct {
	service string
	check   *template.HealthCheck // expanded
}

// healthScript writes what a node is to carry out, after what else it is asked. The mark opens the lines of the answer. Nothing of it is on a command line
// but what a TCP or HTTP check names.
func healthScript(n family.NodeContext, address, mark, before string, checks []nodeCheck) string {
	var b strings.Builder
	b.WriteString(healthPrologue)
	fmt.Fprintf(&b, "muster_mark=%s MUSTER_TENANT=%s MUSTER_CLUSTER=%s MUSTER_NODE=%s MUSTER_HOSTNAME=%s\n", mark,
		humanize.ShellQuote(n.Tenant), humanize.ShellQuote(n.Cluster), humanize.ShellQuote(n.Node), humanize.ShellQuote(n.Hostname))
	b.WriteString("export MUSTER_TENANT MUSTER_CLUSTER MUSTER_NODE MUSTER_HOSTNAME\n")
	b.WriteString(before)
	for i, c := range checks {
		seconds := strconv.Itoa(max(int((c.check.TimeoutOr5s()+time.Second-1)/time.Second), 1))
		fmt.Fprintf(&b, "( MUSTER_SERVICE=%[1]s MUSTER_STATE=$muster_root/%[1]s; export MUSTER_SERVICE MUSTER_STATE\n", humanize.ShellQuote(c.service))
		switch {
		case c.check.HTTP != nil:
			path := c.check.HTTP.Path
			if path == "" {
				path = "/"
			}
			fmt.Fprintf(&b, "look %d muster_http %s %s %s %s %s", i, seconds, humanize.ShellQuote(address), humanize.ShellQuote(c.check.HTTP.Port),
				humanize.ShellQuote(path), humanize.ShellQuote(net.JoinHostPort(address, c.check.HTTP.Port)))
		case c.check.TCP != "":
			host, port, err := net.SplitHostPort(c.check.TCP)
			if err != nil {
				host, port = address, c.check.TCP
			}
			fmt.Fprintf(&b, "look %d muster_tcp %s %s %s", i, seconds, humanize.ShellQuote(host), humanize.ShellQuote(port))
		default:
			fmt.Fprintf(&b, "MUSTER_CHECK=%s; export MUSTER_CHECK\nlook %d muster_command %s", humanize.ShellQuote(c.check.Command), i, seconds)
		}
		b.WriteString(" ) &\n")
	}
	b.WriteString("wait\n")
	return b.String()
}

// timedOut is what timeout ends with when the time was over; killed where the program had to be killed.
const (
	timedOut = 124
	killed   = 137
)

// judgeCheck says what an answer means: "" for healthy, else what is wrong, in a few words.
func judgeCheck(h *template.HealthCheck, exit int, said string) string {
	said = strings.TrimSpace(said)
	if exit == timedOut || exit == killed {
		return fmt.Sprintf("%s: no response within %s", h.Asks(), humanize.Exact(h.TimeoutOr5s()))
	}
	switch {
	case h.HTTP != nil && exit == 0:
		fields := strings.Fields(said)
		if len(fields) < 2 || !strings.HasPrefix(fields[0], "HTTP/") {
			return h.Asks() + ": the response isn't HTTP"
		}
		status, _ := strconv.Atoi(fields[1])
		if want := h.HTTP.Status; want == status || want == 0 && status >= 200 && status <= 399 {
			return ""
		}
		return h.Asks() + ": " + strings.Join(fields[1:], " ") + wanted(h.HTTP.Status)
	case exit == 0:
		return ""
	case h.Command == "" && exit != 126:
		if at := strings.LastIndex(said, ": "); at >= 0 { // "bash: line 1: /dev/tcp/10.0.0.1/80: Connection refused"
			said = said[at+2:]
		}
		return because(h.Asks(), strings.ToLower(said))
	}
	return because(fmt.Sprintf("%s failed with exit code %d", h.Asks(), exit), said)
}

func wanted(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf(", expected %d", status)
}

func because(what, why string) string {
	if why == "" {
		return what + ": no response"
	}
	return what + ": " + why
}
