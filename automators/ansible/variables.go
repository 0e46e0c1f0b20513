package ansible

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
)

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	notInGroup   = regexp.MustCompile(`[^A-Za-z0-9_]`)
)

// inventory is the cluster as far as it is known: each node by its name, this one without SSH, and a group for each service. JSON is YAML.
func inventory(call family.ServiceCall) string {
	hosts, groups := map[string]any{}, map[string]any{}
	add := func(n string, vars map[string]any, services []string) {
		hosts[n] = vars
		for _, s := range services {
			group := notInGroup.ReplaceAllString(s, "_") // as Ansible wants names of groups
			members, _ := groups[group].(map[string]any)
			if members == nil {
				members = map[string]any{"hosts": map[string]any{}}
				groups[group] = members
			}
			members["hosts"].(map[string]any)[n] = map[string]any{}
		}
	}
	self := func(vars map[string]any) map[string]any {
		vars["ansible_connection"] = "local"
		vars["ansible_python_interpreter"] = "{{ ansible_playbook_python }}" // the one that runs Ansible, which has what Ansible needs
		vars["muster_hostname"] = call.Hostname
		return vars
	}
	own := map[string]any{}
	for _, p := range call.Peers {
		if len(p.Names) == 0 {
			continue
		}
		n := p.Names[len(p.Names)-1]
		if n == call.Node {
			own["ansible_host"] = p.Address
			continue
		}
		add(n, map[string]any{"ansible_host": p.Address, "muster_hostname": p.Names[0]}, p.Services)
	}
	add(call.Node, self(own), call.Services)
	b, _ := json.Marshal(map[string]any{"all": map[string]any{"hosts": hosts, "children": groups}}) // of texts and maps it never fails
	return string(b)
}

// variables are the extra variables: the configuration by its names, and under muster who and where the node is, with all of the configuration. They are
// YAML, in which texts that look like templates are marked as none. Warnings tell which names are no names of variables; these are in
// muster.config alone.
func variables(call family.ServiceCall) (text string, warnings []string, err error) {
	config := call.Config
	if config == nil {
		config = map[string]any{}
	}
	asJSON, err := json.Marshal(config)
	if err != nil {
		return "", nil, app.Errorf(app.EInvalid, "Can't encode the cluster configuration as JSON: %w", err)
	}
	var plain map[string]any
	dec := json.NewDecoder(bytes.NewReader(asJSON))
	dec.UseNumber()
	if err := dec.Decode(&plain); err != nil {
		return "", nil, app.Errorf(app.EInvalid, "Can't read the cluster configuration: %w", err)
	}
	all := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(plain)) {
		if !variableName.MatchString(k) || k == "muster" || k == "muster_state" {
			warnings = append(warnings, fmt.Sprintf("%q in the configuration isn't a valid variable name; use muster.config instead", k))
			continue
		}
		all[k] = plain[k]
	}
	peers := []any{}
	for _, p := range call.Peers {
		peers = append(peers, map[string]any{"address": p.Address, "names": anys(p.Names), "services": anys(p.Services)})
	}
	all["muster"] = map[string]any{
		"tenant": call.Tenant, "cluster": call.Cluster, "node": call.Node, "hostname": call.Hostname, "owner": call.Owner, "service": call.Service,
		"action": string(call.Action), "operation": json.Number(strconv.FormatInt(call.Operation, 10)), "step": call.Step, "resources": call.Resources,
		"services": anys(call.Services), "peers": peers, "config": plain,
	}
	var b strings.Builder
	write(&b, all)
	return b.String(), warnings, nil
}

func anys(s []string) []any {
	all := make([]any, len(s))
	for i := range s {
		all[i] = s[i]
	}
	return all
}

// write writes a value as YAML in its flow style, of ASCII alone. What a template engine would look into is marked as unsafe.
func write(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case json.Number:
		b.WriteString(number(v))
	case string:
		if strings.Contains(v, "{{") || strings.Contains(v, "{%") || strings.Contains(v, "{#") {
			b.WriteString("!unsafe ")
		}
		writeText(b, v)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, e)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			// A key that is longer than 1024 letters must say that it is one.
			if len(k) > 100 {
				b.WriteString("? ")
			}
			writeText(b, k)
			b.WriteString(": ")
			write(b, v[k])
		}
		b.WriteByte('}')
	}
}

// number writes a number as YAML 1.1 reads it: with a sign and a dot where there is an exponent.
func number(n json.Number) string {
	s := n.String()
	mantissa, exponent, ok := strings.Cut(strings.ToLower(s), "e")
	if !ok {
		return s
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if !strings.HasPrefix(exponent, "-") && !strings.HasPrefix(exponent, "+") {
		exponent = "+" + exponent
	}
	return mantissa + "e" + exponent
}

func writeText(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r < 0x7f:
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r <= 0xff:
			fmt.Fprintf(b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
}
