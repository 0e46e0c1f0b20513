package template

import (
	"fmt"
	"strconv"
	"strings"

	"muster/app"
)

// macroKind tells the macros apart.
type macroKind uint8

const (
	macroOwner    macroKind = iota // cluster.owner
	macroHostSelf                  // host.self
	macroIPSelf                    // ip.self, ip.<kind>.self
	macroHosts                     // host.service.<service>
	macroIPs                       // ip.service.<service>, ip.<kind>.service.<service>
	macroCount                     // num.service.<service>
	macroInstance                  // instance.self.service.<service>
	macroAnswer                    // answer.<service>.<field>
	macroFact                      // fact.<service>.<name>
)

// macro is one macro as it was understood. Index is -1 where the whole list is meant.
type macro struct {
	kind      macroKind
	Service   string `json:"-"`
	field     string // of an answer or fact
	address   string // kind of address
	index     int
	formatted bool // map(…) was written
	format    string
	separator string
	source    string // as it was written, with its % signs
}

// ofNode reports whether the value depends on the node that asks.
func (m *macro) ofNode() bool {
	return m.kind == macroHostSelf || m.kind == macroIPSelf || m.kind == macroInstance || m.kind == macroAnswer || m.kind == macroFact
}

// namesAddresses reports whether the value is known only once the nodes of the service are.
func (m *macro) namesAddresses() bool { return m.kind == macroHosts || m.kind == macroIPs }

// macroPart is a piece of a text: a macro, or plain text.
type macroPart struct {
	text  string
	Macro *macro `json:"-"`
}

// macroSyntax says what is wrong with a macro, and what would be right.
type macroSyntax struct {
	body, what, hint string
}

const macroPlainHint = "A % starts a macro wherever another % follows in the same text; %% stays as written."

// SplitMacros takes a text apart. A text without macros returns no parts. Coopr's rule: a pair %% neither starts nor ends
// a macro and stays as written; between one single % and the next there must be a macro; a last single % with no other
// after it is plain text, as in "100%".
func SplitMacros(text string) ([]macroPart, *macroSyntax) {
	var parts []macroPart
	pos := 0
	for {
		open := nextPercent(text, pos)
		if open < 0 {
			break
		}
		end := nextPercent(text, open+1)
		if end < 0 {
			break
		}
		m, problem := parseMacro(text[open+1 : end])
		if problem != nil {
			return nil, problem
		}
		if open > pos {
			parts = append(parts, macroPart{text: text[pos:open]})
		}
		parts = append(parts, macroPart{Macro: m})
		pos = end + 1
	}
	if parts != nil && pos < len(text) {
		parts = append(parts, macroPart{text: text[pos:]})
	}
	return parts, nil
}

// nextPercent finds the next % that is not one of a pair; -1 where there is none.
func nextPercent(text string, pos int) int {
	for pos < len(text) {
		i := strings.IndexByte(text[pos:], '%')
		if i < 0 {
			return -1
		}
		pos += i
		if pos+1 >= len(text) || text[pos+1] != '%' {
			return pos
		}
		pos += 2
	}
	return -1
}

// macroParser reads one macro from left to right. Its grammar, in which no white space is allowed outside quotes:
//
//	macro   = "join(" mapped "," literal ")" | mapped
//	mapped  = "map(" basic "," literal ")" | basic
//	basic   = name [ "[" digits "]" ]
//	literal = a text between ' and ', or between " and "
type macroParser struct {
	body string
	pos  int
	bad  *macroSyntax
}

func parseMacro(body string) (*macro, *macroSyntax) {
	p := &macroParser{body: body}
	m := &macro{index: -1, separator: ",", source: "%" + body + "%"}
	if p.take("join(") {
		p.mapped(m)
		p.expect(",")
		m.separator = p.literal("separator")
		p.expect(")")
	} else {
		p.mapped(m)
	}
	if p.bad == nil && p.pos < len(body) {
		p.fail(fmt.Sprintf("unexpected %q at the end", body[p.pos:]), "")
	}
	if p.bad != nil {
		return nil, p.bad
	}
	return m, nil
}

func (p *macroParser) mapped(m *macro) {
	if !p.take("map(") {
		p.basic(m)
		return
	}
	p.basic(m)
	p.expect(",")
	m.format, m.formatted = p.literal("format"), true
	p.expect(")")
}

func (p *macroParser) basic(m *macro) {
	if p.bad != nil {
		return
	}
	start := p.pos
	for p.pos < len(p.body) && macroNameByte(p.body[p.pos]) {
		p.pos++
	}
	name := p.body[start:p.pos]
	if name == "" {
		p.fail("the name is missing", "")
		return
	}
	index, indexed := -1, false
	if p.take("[") {
		index, indexed = p.index(), true
	}
	if p.bad != nil {
		return
	}
	if problem := macroName(name, m); problem != "" {
		p.fail(problem, macroSuggestion(name))
		return
	}
	if indexed && !m.namesAddresses() {
		p.fail("only host.service and ip.service take an [index]", "Use "+name+" without an index.")
		return
	}
	m.index = index
}

// index reads digits and the closing bracket. Six digits are plenty: no cluster is that large.
func (p *macroParser) index() int {
	start := p.pos
	for p.pos < len(p.body) && p.body[p.pos] >= '0' && p.body[p.pos] <= '9' {
		p.pos++
	}
	digits := p.body[start:p.pos]
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) > 6 || !p.take("]") {
		p.fail("the [index] must be a whole number in brackets", "Indexes start at 0, as in host.service.web[0].")
		return -1
	}
	return n
}

func (p *macroParser) literal(what string) string {
	if p.bad != nil {
		return ""
	}
	if p.pos < len(p.body) {
		if quote := p.body[p.pos]; quote == '\'' || quote == '"' {
			if end := strings.IndexByte(p.body[p.pos+1:], quote); end >= 0 {
				text := p.body[p.pos+1 : p.pos+1+end]
				p.pos += end + 2
				return text
			}
			p.fail(fmt.Sprintf("the closing %c of the %s is missing", quote, what),
				"Double a % inside quotes; a single one ends the macro.")
			return ""
		}
	}
	p.fail(fmt.Sprintf("the %s must be text in quotes", what), "")
	return ""
}

func (p *macroParser) take(s string) bool {
	if p.bad != nil || !strings.HasPrefix(p.body[p.pos:], s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *macroParser) expect(s string) {
	if p.bad == nil && !p.take(s) {
		p.fail(fmt.Sprintf("%q is missing after %q", s, p.body[:p.pos]), "")
	}
}

// fail keeps the first problem only: what follows it is guesswork.
func (p *macroParser) fail(what, hint string) {
	if p.bad != nil {
		return
	}
	if hint == "" {
		hint = "Valid forms are %host.service.web%, %join(host.service.web,';')%, %map(host.service.web,'$:80')% and " +
			"%join(map(host.service.web,'$:80'),';')%, with no spaces outside quotes."
	}
	if strings.Contains(p.body, "%%") {
		hint = "Put something between two macros: %% can't end one and start the next. " + hint
	} else if !strings.HasPrefix(p.body, "join(") && !strings.HasPrefix(p.body, "map(") {
		hint += " " + macroPlainHint
	}
	p.bad = &macroSyntax{body: p.body, what: what, hint: hint}
}

func macroNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// macroName fills in what a name means. It returns what is wrong with the name, or "".
func macroName(name string, m *macro) string {
	const noService = "the name of the service is missing"
	service := func(kind macroKind, s string) string {
		m.kind, m.Service = kind, s
		if s == "" {
			return noService
		}
		return ""
	}
	switch name {
	case "cluster.owner":
		m.kind = macroOwner
		return ""
	case "host.self":
		m.kind = macroHostSelf
		return ""
	case "ip.self":
		m.kind, m.address = macroIPSelf, app.AddressBind
		return ""
	}
	if s, ok := strings.CutPrefix(name, "host.service."); ok {
		return service(macroHosts, s)
	}
	if s, ok := strings.CutPrefix(name, "num.service."); ok {
		return service(macroCount, s)
	}
	if s, ok := strings.CutPrefix(name, "instance.self.service."); ok {
		return service(macroInstance, s)
	}
	if rest, ok := strings.CutPrefix(name, "answer."); ok {
		at := strings.LastIndexByte(rest, '.') // names of services may have dots, those of fields have none
		if at < 1 || !parameterName.MatchString(rest[at+1:]) {
			return "the names of the service and the field are missing"
		}
		m.kind, m.Service, m.field = macroAnswer, rest[:at], rest[at+1:]
		return ""
	}
	if rest, ok := strings.CutPrefix(name, "fact."); ok {
		at := strings.LastIndexByte(rest, '.')
		if at < 1 || !app.FactPattern.MatchString(rest[at+1:]) {
			return "the names of the service and the fact are missing"
		}
		m.kind, m.Service, m.field = macroFact, rest[:at], rest[at+1:]
		return ""
	}
	if rest, ok := strings.CutPrefix(name, "ip."); ok {
		kind, what, _ := strings.Cut(rest, ".")
		if s, ok := strings.CutPrefix(what, "service."); ok && kind != "" {
			m.address = kind
			return service(macroIPs, s)
		}
		if s, ok := strings.CutPrefix(rest, "service."); ok {
			m.address = app.AddressBind
			return service(macroIPs, s)
		}
		if what == "self" && kind != "" {
			m.kind, m.address = macroIPSelf, kind
			return ""
		}
	}
	return "unknown macro"
}

// macroSuggestion names the macros that are nearest to a wrong name.
func macroSuggestion(name string) string {
	family, _, _ := strings.Cut(name, ".")
	switch family {
	case "cluster":
		return "The only macro for the cluster is cluster.owner."
	case "host", "hostname", "hosts":
		return "For host names, use host.self or host.service.<service>."
	case "ip", "ips", "address":
		return "For addresses, use ip.self, ip.<kind>.self, ip.service.<service> or ip.<kind>.service.<service>, " +
			"with a kind such as bind_v4 or access_v4."
	case "num", "count", "number":
		return "For the number of nodes with a service, use num.service.<service>."
	case "answer", "answers", "question":
		return "For an answer that a person typed, use answer.<service>.<field>."
	case "fact", "facts", "output", "outputs":
		return "For a fact that a service's action reported, use fact.<service>.<name>."
	case "instance", "self":
		return "For this node's index among the nodes with a service, use instance.self.service.<service>."
	}
	return "Macros are cluster.owner, host.self, ip.self, host.service.<service>, ip.service.<service>, " +
		"num.service.<service>, instance.self.service.<service>, answer.<service>.<field> and fact.<service>.<name>."
}
