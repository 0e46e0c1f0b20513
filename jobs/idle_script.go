package jobs

import (
	"fmt"
	"strings"

	"muster/app/humanize"
	"muster/app/idle"
	"muster/app/template"
)

// idleAnswer is the word that opens lines about use, behind the mark of the checks.
const idleAnswer = "idle"

// idlePrologue tells by which connection Muster is here, and which others of its workers were within two minutes, for longer than which no
// worker keeps one that it doesn't use. sudo may take the variables of the session away; they are the parents' still.
const idlePrologue = `muster_say() { printf '%s idle %s\n' "$muster_mark" "$*" | tr '\r\0' '  '; }
muster_from() {
muster_c=${SSH_CONNECTION-}
[ -n "$muster_c" ] || muster_c=${SSH_CLIENT-}
muster_p=$$
while [ -z "$muster_c" ] && [ "${muster_p:-0}" -gt 1 ] 2>/dev/null; do
muster_p=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$muster_p/status" 2>/dev/null)
muster_c=$(tr '\0' '\n' <"/proc/$muster_p/environ" 2>/dev/null | sed -n 's/^SSH_CONNECTION=//p;s/^SSH_CLIENT=//p' | head -n 1)
done
[ -n "$muster_c" ] || return
set -- $muster_c
muster_port=$3
[ $# -lt 4 ] || muster_port=$4
muster_t=$(date +%s)
umask 077
mkdir -p "$muster_root" 2>/dev/null
muster_f=$muster_root/connections
{ tail -n 20 "$muster_f" 2>/dev/null; echo "$muster_t $1 $2"; } | while read -r t a p; do
[ "$((muster_t - t))" -gt 120 ] 2>/dev/null || echo "$t $a $p"
done >"$muster_f.$$" 2>/dev/null
while read -r t a p; do muster_say known "$a $p"; done <"$muster_f.$$"
mv -f "$muster_f.$$" "$muster_f" 2>/dev/null || rm -f "$muster_f.$$"
muster_say own "$1 $2 $muster_port"
{ who 2>/dev/null || true; } | sed -n 's/^\([^ ][^ ]*\) .*(\([0-9a-fA-F.:]*\))[^)]*$/\1 \2/p' | head -n 50 | while read -r a; do muster_say person "$a"; done
muster_ports="$muster_ports|$(printf '%04X' "$muster_port" 2>/dev/null)"
}
`

// idleConnections lists the established connections at the ports.
const idleConnections = `if cat /proc/net/tcp >/dev/null 2>&1; then
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -E "^ *[0-9]+: [0-9A-F]+:($muster_ports) [0-9A-F]+:[0-9A-F]{4} 01 " | cut -c 1-110 | head -n ` + "%d" + ` |
while read -r a; do muster_say tcp "$a"; done
muster_say tables
fi
`

const idleLoad = `muster_n=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || grep -c '^processor' /proc/cpuinfo)
read -r muster_a muster_b muster_c </proc/loadavg 2>/dev/null && muster_say load "$muster_b $muster_n"
`

// idleGPU asks nvidia-smi. Where there is none, a node without a device that computes has no GPU: 0302 is the class of 3D controllers, 1200 that
// of accelerators, 10de NVIDIA.
const idleGPU = `if muster_has nvidia-smi; then
muster_g=$(muster_timed 10 nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits 2>&1) && [ -n "$muster_g" ] &&
printf '%s\n' "$muster_g" | head -n 64 | while read -r a; do muster_say gpu "$a"; done || muster_say badgpu "nvidia-smi failed"
elif [ -e /dev/nvidia0 ] || [ -e /dev/kfd ] ||
cat /sys/bus/pci/devices/*/class 2>/dev/null | grep -q -E '^0x(0302|1200)' || cat /sys/bus/pci/devices/*/vendor 2>/dev/null | grep -q -i '^0x10de'; then
muster_say badgpu "nvidia-smi isn't installed"
else muster_say nogpu
fi
`

// idleScript is what a node runs to tell how it is used, before its health checks, whose connections would else be found.
func idleScript(c template.IdleConditions, services []string) string {
	var b strings.Builder
	b.WriteString(idlePrologue)
	var ports []string
	for _, p := range c.NoConnections {
		ports = append(ports, fmt.Sprintf("%04X", p))
	}
	fmt.Fprintf(&b, "muster_ports='%s'\n", strings.Join(append(ports, "x"), "|"))
	if c.NoSSH {
		b.WriteString("muster_from\n")
	}
	if c.NoSSH || len(ports) > 0 {
		fmt.Fprintf(&b, idleConnections, idle.MostLines+1)
	}
	if c.LoadBelow > 0 {
		b.WriteString(idleLoad)
	}
	if c.GPUBelow > 0 {
		b.WriteString(idleGPU)
	}
	if c.Script != "" {
		fmt.Fprintf(&b, `( MUSTER_SERVICES=%s MUSTER_CHECK=%s; export MUSTER_SERVICES MUSTER_CHECK
muster_o=$({ muster_command %d </dev/null; echo "=$?"; } 2>&1 | tail -c 600 | tr '\n\r\0' '   ')
muster_c=${muster_o##*=}
muster_say script "${muster_c%%%% *} ${muster_o%%=*}" ) &
`, humanize.ShellQuote(strings.Join(services, " ")), humanize.ShellQuote(c.Script), int(template.IdleScriptTime.Seconds()))
	}
	return b.String()
}
