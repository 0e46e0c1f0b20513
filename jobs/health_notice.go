package jobs

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
)

// metadataService is where a machine of a cloud asks about itself. No one but the machine reaches it.
const metadataService = "169.254.169.254:80"

// googleNotice is how long before Google stops a spot machine its metadata service says so.
// https://cloud.google.com/compute/docs/instances/spot ("Preemption process")
const googleNotice = 30 * time.Second

// noticeAnswer is the word that opens the line about an interruption, behind the mark of the checks.
const noticeAnswer = "notice"

// noticeProbe is what a node is asked about the end of its machine, and what it answers.
type noticeProbe struct {
	source  execution.NoticeSource
	service string // metadataService; tests have one of their own
	at      time.Time
}

// noticeOf returns what a node is asked; nil for nothing.
func noticeOf(n execution.CheckBatchNode) *noticeProbe {
	if !slices.Contains([]execution.NoticeSource{execution.NoticeAWS, execution.NoticeGoogle}, n.Notice) {
		return nil
	}
	return &noticeProbe{source: n.Notice, service: metadataService}
}

// noticePrologue asks the metadata service: muster_meta METHOD PATH HEADER. It answers within two seconds or not at all, and anything but
// 200 is no answer. muster_notice says what it answered in one line, which is short.
const noticePrologue = `muster_meta() {
if muster_has curl; then muster_timed 3 curl -sS -f -g -m 2 --noproxy '*' -X "$1" -H "$3" "http://$muster_service$2"
elif muster_has bash; then muster_timed 2 bash -c 'exec 3<>"/dev/tcp/${0%:*}/${0##*:}" || exit 7
printf "%s %s HTTP/1.0\r\nHost: %s\r\nContent-Length: 0\r\n%s\r\n\r\n" "$1" "$2" "$0" "$3" >&3
read -r v c m <&3; [ "${c%%[!0-9]*}" = 200 ] || exit 22
while IFS= read -r l <&3 && [ -n "${l%?}" ]; do :; done
cat <&3' "$muster_service" "$1" "$2" "$3"
fi
}
muster_notice() {
muster_o=$("$@" 2>/dev/null </dev/null | head -c 300 | tr '\n\r\0' '   ')
[ -z "$muster_o" ] || printf '%s ` + noticeAnswer + ` %s\n' "$muster_mark" "$muster_o"
}
muster_google() { muster_meta GET /computeMetadata/v1/instance/preempted 'Metadata-Flavor: Google'; }
muster_aws() {
muster_k=$(muster_meta PUT /latest/api/token 'X-aws-ec2-metadata-token-ttl-seconds: 60')
[ -z "$muster_k" ] || muster_meta GET /latest/meta-data/spot/instance-action "X-aws-ec2-metadata-token: $muster_k"
}
`

// script is what the node runs beside its checks.
func (p *noticeProbe) script() string {
	if p == nil {
		return ""
	}
	return noticePrologue + "( muster_service=" + p.service + "\nmuster_notice muster_" + string(p.source) + " ) &\n"
}

// hear reads the answer: TRUE of Google; of AWS {"action": "terminate", "time": "2017-09-18T08:22:00Z"}, and nothing where it stays.
func (p *noticeProbe) hear(said string, now time.Time) {
	if p.source == execution.NoticeGoogle {
		if strings.TrimSpace(said) == "TRUE" {
			p.at = now.Add(googleNotice)
		}
		return
	}
	var action struct {
		Action string    `json:"action"`
		Time   time.Time `json:"time"`
	}
	if err := json.Unmarshal([]byte(said), &action); err == nil && slices.Contains([]string{"terminate", "stop", "hibernate"}, action.Action) {
		p.at = action.Time
	}
}

// interruption is what the node's machine knows of its end; nil for nothing.
func (p *noticeProbe) interruption(n app.Node) *app.Interruption {
	if p == nil || p.at.IsZero() {
		return nil
	}
	return &app.Interruption{Node: n.Name, Machine: n.MachineID, At: p.at}
}
