package form

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

type firewallDoc struct {
	Open []firewallRuleDoc `yaml:"open" doc:"Ports to open besides SSH. Empty opens none."`
}

// firewallRuleDoc is "443 from anywhere", or the same in parts.
type firewallRuleDoc struct {
	Protocol string   `yaml:"protocol" doc:"tcp, udp or icmp. Default: tcp."`
	Ports    ports    `yaml:"ports" doc:"Port such as 443, or range such as 8000-8100. Leave out for icmp."`
	From     []string `yaml:"from" doc:"Allowed source addresses, such as 10.0.0.0/8. Default: anywhere."`
}

// ports is a number, or a range as text.
type ports string

const portsPattern = `[1-9][0-9]{0,4}(?:-[1-9][0-9]{0,4})?`

var portsShape = regexp.MustCompile(`^` + portsPattern + `$`)

func (p *ports) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!int" || n.ShortTag() == "!!str") && portsShape.MatchString(n.Value) {
		*p = ports(n.Value)
		return
	}
	d.Wrong(n, path, "a port such as 443, or a range such as 8000-8100", d.emptyHint(n))
}

func (ports) schema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "integer", "minimum": 1, "maximum": 65535},
		map[string]any{"type": "string", "pattern": `^` + portsPattern + `$`},
	}}
}

// firewallRulePattern is also what the schema says.
const firewallRulePattern = `^(?:(?:(tcp|udp) )?(` + portsPattern + `)|icmp)(?: from (anywhere|[0-9A-Fa-f.:/]+(?:, ?[0-9A-Fa-f.:/]+)*))?$`

var firewallRuleShape = regexp.MustCompile(firewallRulePattern)

func (r *firewallRuleDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.MappingNode {
		type mapping firewallRuleDoc // without this method
		d.Value(n, ValueOf((*mapping)(r)), path)
		return
	}
	m := firewallRuleShape.FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" && n.ShortTag() != "!!int" || m == nil {
		d.Wrong(n, path, `a port such as 443, text such as "udp 53 from 10.0.0.0/8", or a mapping with protocol, ports and from`, d.emptyHint(n))
		return
	}
	r.Protocol, r.Ports = m[1], ports(m[2])
	if m[2] == "" {
		r.Protocol = "icmp"
	}
	if m[3] != "" && m[3] != "anywhere" {
		for from := range strings.SplitSeq(m[3], ",") {
			r.From = append(r.From, strings.TrimSpace(from))
		}
	}
}

func (firewallRuleDoc) schema() map[string]any {
	type mapping firewallRuleDoc
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "integer", "minimum": 1, "maximum": 65535},
		map[string]any{"type": "string", "pattern": firewallRulePattern, "description": "For example: 443 from anywhere, or udp 53 from 10.0.0.0/8."},
		schemaOf[mapping](),
	}}
}

var (
	_ noder   = (*ports)(nil)
	_ noder   = (*firewallRuleDoc)(nil)
	_ schemer = ports("")
	_ schemer = firewallRuleDoc{}
	_ writer  = firewallRuleDoc{}
)

func (f *firewallDoc) Firewall() *template.Firewall {
	if f == nil {
		return nil
	}
	out := &template.Firewall{}
	for _, r := range f.Open {
		rule := template.FirewallRule{Protocol: r.Protocol, Ports: string(r.Ports), From: r.From}
		if rule.Protocol == "" {
			rule.Protocol = "tcp"
		}
		if len(rule.From) == 0 {
			rule.From = template.Anywhere()
		}
		out.Rules = append(out.Rules, rule)
	}
	return out
}

// FirewallDocOf turns the app's word into what is written.
func FirewallDocOf(f *template.Firewall) *firewallDoc {
	d := &firewallDoc{}
	for _, r := range f.Rules {
		d.Open = append(d.Open, firewallRuleDoc{Protocol: r.Protocol, Ports: ports(r.Ports), From: r.From})
	}
	return d
}

// toNode writes a rule as one text, the shortest that says it.
func (r firewallRuleDoc) toNode() *yaml.Node {
	text := string(r.Ports)
	if r.Protocol != "" && r.Protocol != "tcp" {
		text = strings.TrimSpace(r.Protocol + " " + text)
	}
	if len(r.From) > 0 && !slices.Equal(r.From, template.Anywhere()) {
		text += " from " + strings.Join(r.From, ", ")
	}
	if n, err := strconv.Atoi(text); err == nil {
		return plainNode(n)
	}
	return textNode(text)
}
