package template

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// Firewall says what reaches the machines of a cluster from outside: the rules' traffic, SSH from where the account's setting says, and
// nothing else. Between the machines of the cluster everything passes, and what goes out is not held back.
type Firewall struct {
	Rules []FirewallRule `json:"rules,omitempty"`
}

// FirewallRule lets something in.
type FirewallRule struct {
	Protocol string   `json:"protocol"`        // tcp, udp or icmp
	Ports    string   `json:"ports,omitempty"` // 443, or 8000-8100; "" for icmp
	From     []string `json:"from"`            // prefixes, such as 0.0.0.0/0; never empty
}

// Limits of firewalls, which are those of the clouds.
const (
	mostFirewallRules = 40
	mostFirewallFrom  = 20
)

// protocols are those that a rule can have.
var protocols = []string{"tcp", "udp", "icmp"}

// Anywhere is where a rule lets in from when it does not say.
func Anywhere() []string { return []string{"0.0.0.0/0", "::/0"} }

// String is the rule as people say it, such as "tcp 8000-8100 from 10.0.0.0/8".
func (r FirewallRule) String() string {
	from := strings.Join(r.From, ", ")
	if slices.Equal(r.From, Anywhere()) {
		from = "anywhere"
	}
	return strings.Join(strings.Fields(r.Protocol+" "+r.Ports+" from "+from), " ")
}

// Check refuses what no cloud could make: EInvalid, whose field is rules[i] and what is wrong there.
func (f *Firewall) Check() error {
	if f == nil {
		return nil
	}
	if len(f.Rules) > mostFirewallRules {
		return &app.Error{Code: app.EInvalid, Field: "rules", Message: fmt.Sprintf("A firewall can have at most %d rules; this one has %d.", mostFirewallRules, len(f.Rules))}
	}
	for i, r := range f.Rules {
		if field, message, hint := r.wrong(); message != "" {
			return &app.Error{Code: app.EInvalid, Field: fmt.Sprintf("rules[%d].%s", i, field), Message: message, Hint: hint}
		}
	}
	return nil
}

func (r FirewallRule) wrong() (field, message, hint string) {
	if !slices.Contains(protocols, r.Protocol) {
		return "protocol", fmt.Sprintf("Unsupported protocol %.20q.", r.Protocol), "Use " + humanize.Or(protocols) + "."
	}
	if r.Protocol == "icmp" {
		if r.Ports != "" {
			return "ports", "icmp has no ports.", "Leave out ports."
		}
	} else if !portsShape(r.Ports) {
		return "ports", fmt.Sprintf("Invalid port or range %.20q.", r.Ports), "Use a port from 1 to 65535, such as 443, or a range, such as 8000-8100."
	}
	if len(r.From) == 0 || len(r.From) > mostFirewallFrom {
		return "from", fmt.Sprintf("A rule needs 1 to %d address prefixes; this one has %d.", mostFirewallFrom, len(r.From)), ""
	}
	for _, from := range r.From {
		p, err := netip.ParsePrefix(from)
		if err != nil {
			return "from", fmt.Sprintf("Invalid address prefix %.60q.", from), "Use a CIDR block such as 10.0.0.0/8, 203.0.113.7/32 or ::/0."
		}
		if p.Masked() != p {
			return "from", fmt.Sprintf("%s has host bits set.", from), "Use " + p.Masked().String() + "."
		}
	}
	return "", "", ""
}

func portsShape(s string) bool {
	a, b, isRange := strings.Cut(s, "-")
	first, ok := port(a)
	if !isRange {
		return ok
	}
	last, also := port(b)
	return ok && also && first < last
}

func port(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= 65535 && strconv.Itoa(n) == s
}
