package idle

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"muster/app/humanize"
	"muster/app/template"
)

// NodeFinding is what one look at a node found. Without reasons, all conditions hold on it.
type NodeFinding struct {
	Node    string   `json:"node"`
	Reasons []string `json:"reasons"` // why it isn't idle, or why that isn't known: "an SSH connection from 192.0.2.7"
}

// The bounds of a finding, which comes from a worker; what is more is cut.
const (
	MaxReasonText = 200 // letters
	maxReasons    = 5   // of a node
)

// Bounded returns the finding within its limits.
func (f NodeFinding) Bounded() NodeFinding {
	out := NodeFinding{Node: humanize.CutText(f.Node, 100), Reasons: []string{}}
	for _, r := range f.Reasons[:min(len(f.Reasons), maxReasons)] {
		out.Reasons = append(out.Reasons, humanize.CutText(strings.ToValidUTF8(r, ""), MaxReasonText))
	}
	return out
}

// Text says it in a line: "n1: an SSH connection from 192.0.2.7".
func (f NodeFinding) Text() string { return f.Node + ": " + strings.Join(f.Reasons, "; ") }

// Reading is what a node said of itself, line by line.
type Reading struct {
	own, known []string // connections of Muster, as "address port"
	port       int      // of the node's SSH server, by which Muster is connected
	people     map[string]string
	tcp        []connection
	tables     bool // the kernel's tables of connections could be read
	more       bool // there were more connections than are looked at
	load       float64
	cores      int
	gpu        []string
	gpuNote    string // "none", or why it isn't known
	script     string // exit code; "" where it hasn't answered
	said       string
}

type connection struct {
	local, remote netip.AddrPort
}

// MostLines is how many connections a node tells of.
const MostLines = 200

// Line takes one line of a node's answer: a word for what it is about, and the rest.
func (r *Reading) Line(about, rest string) {
	f := strings.Fields(rest)
	switch about {
	case "own":
		if len(f) >= 3 {
			r.own = append(r.own, peer(f[0], f[1]))
			r.port, _ = strconv.Atoi(f[len(f)-1])
		}
	case "known":
		if len(f) >= 2 {
			r.known = append(r.known, peer(f[0], f[1]))
		}
	case "person":
		if len(f) == 2 && r.people == nil {
			r.people = map[string]string{}
		}
		if len(f) == 2 && len(r.people) < MostLines {
			r.people[f[1]] = f[0]
		}
	case "tables":
		r.tables = true
	case "tcp":
		if len(r.tcp) >= MostLines {
			r.more = true
		} else if c, ok := parseConnection(f); ok {
			r.tcp = append(r.tcp, c)
		}
	case "load":
		if len(f) == 2 {
			r.load, _ = strconv.ParseFloat(f[0], 64)
			r.cores, _ = strconv.Atoi(f[1])
		}
	case "gpu":
		if len(r.gpu) < 64 {
			r.gpu = append(r.gpu, strings.TrimSpace(rest))
		}
	case "nogpu":
		r.gpuNote = "none"
	case "badgpu":
		r.gpuNote = strings.TrimSpace(rest)
	case "script":
		r.script, r.said, _ = strings.Cut(rest, " ")
	}
}

// peer writes an address and port alike, however the node writes them.
func peer(address, port string) string {
	if a, err := netip.ParseAddr(address); err == nil {
		address = a.Unmap().WithZone("").String()
	}
	return address + " " + port
}

// parseConnection reads a line of /proc/net/tcp or tcp6.
func parseConnection(f []string) (c connection, ok bool) {
	if len(f) < 4 || f[3] != "01" {
		return c, false
	}
	var fine bool
	if c.local, ok = parseHexAddr(f[1]); !ok {
		return c, false
	}
	c.remote, fine = parseHexAddr(f[2])
	return c, fine
}

// parseHexAddr reads 0100007F:1F90. Each four bytes of an address are in the order of the host, which is a little-endian one.
func parseHexAddr(s string) (netip.AddrPort, bool) {
	text, port, _ := strings.Cut(s, ":")
	p, err := strconv.ParseUint(port, 16, 16)
	raw, bad := hex.DecodeString(text)
	if err != nil || bad != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	a, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(a.Unmap(), uint16(p)), ok
}

// Reasons tells why a node isn't idle by the conditions, or why that isn't known; none where all of them hold.
func (r *Reading) Reasons(c template.IdleConditions) (out []string) {
	if c.NoSSH {
		out = append(out, r.ssh()...)
	}
	if c.LoadBelow > 0 {
		switch perCore := r.load / float64(max(r.cores, 1)); {
		case r.cores < 1:
			out = append(out, "the load is unknown")
		case perCore >= c.LoadBelow:
			out = append(out, fmt.Sprintf("load %.2f per core", perCore))
		}
	}
	if len(c.NoConnections) > 0 {
		out = append(out, r.connections(c.NoConnections)...)
	}
	if c.GPUBelow > 0 {
		out = append(out, r.gpus(c.GPUBelow)...)
	}
	if c.Script != "" {
		said := strings.TrimSpace(r.said)
		switch {
		case r.script == "0":
		case r.script == "1" && said != "":
			out = append(out, "the script says: "+said)
		case r.script == "1":
			out = append(out, "the script says that it's in use")
		case r.script == "" || r.script == "124" || r.script == "137":
			out = append(out, "the script gave no answer in time")
		default:
			out = append(out, strings.TrimSuffix(fmt.Sprintf("the script failed with exit code %s: %s", r.script, said), ": "))
		}
	}
	for i := range out {
		out[i] = humanize.CutText(out[i], MaxReasonText)
	}
	return out[:min(len(out), maxReasons)]
}

// ssh finds connections to the SSH server that are not Muster's. How Muster is connected shows on which port and, where machines share a
// host, at which address the server of this one listens.
func (r *Reading) ssh() (out []string) {
	if !r.tables || r.port == 0 || len(r.own) == 0 {
		return []string{"SSH connections are unknown"}
	}
	var mine *connection
	for i, c := range r.tcp {
		if int(c.local.Port()) == r.port && slices.Contains(r.own, peer(c.remote.Addr().String(), strconv.Itoa(int(c.remote.Port())))) {
			mine = &r.tcp[i]
		}
	}
	if mine == nil { // the node's network isn't the one that we see
		return []string{"SSH connections are unknown"}
	}
	ours := slices.Concat(r.own, r.known)
	said := map[string]bool{}
	for _, c := range r.tcp {
		if int(c.local.Port()) != r.port || mine.local.Addr().IsLoopback() && c.local.Addr() != mine.local.Addr() ||
			slices.Contains(ours, peer(c.remote.Addr().String(), strconv.Itoa(int(c.remote.Port())))) {
			continue
		}
		from := c.remote.Addr().String()
		text := "an SSH connection from " + from
		if who := r.people[from]; who != "" {
			text = "an SSH session of " + who + " from " + from
		}
		if !said[text] {
			out = append(out, text)
		}
		said[text] = true
	}
	return out
}

// connections counts those from elsewhere to the ports.
func (r *Reading) connections(ports []int) (out []string) {
	if !r.tables {
		return []string{"connections are unknown"}
	}
	n := map[int]int{}
	for _, c := range r.tcp {
		if port := int(c.local.Port()); slices.Contains(ports, port) && c.remote.Addr() != c.local.Addr() {
			n[port]++
		}
	}
	for _, port := range ports {
		if n[port] > 0 {
			out = append(out, fmt.Sprintf("%s to port %d", humanize.Count(n[port], "connection"), port))
			n[port] = 0 // a port that is listed twice is said once
		}
	}
	if len(out) == 0 && r.more {
		out = append(out, "there are too many connections to look at all")
	}
	return out
}

func (r *Reading) gpus(below int) []string {
	switch {
	case len(r.gpu) == 0 && r.gpuNote == "none":
		return nil
	case len(r.gpu) == 0 && r.gpuNote != "":
		return []string{"GPU use is unknown: " + r.gpuNote}
	case len(r.gpu) == 0:
		return []string{"GPU use is unknown"}
	}
	for i, text := range r.gpu {
		use, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return []string{fmt.Sprintf("use of GPU %d is unknown", i)}
		case use >= below:
			return []string{fmt.Sprintf("GPU %d is used to %d%%", i, use)}
		}
	}
	return nil
}
