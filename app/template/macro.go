package template

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
)

// Macros stand in the string values of a cluster's configuration and in links, and are replaced by what is only known
// once there are nodes:
//
//	%cluster.owner%                       who owns the cluster
//	%host.self%                           this node's host name
//	%ip.self%  %ip.<kind>.self%           this node's address; the kind is bind_v4 unless given
//	%host.service.<svc>%                  host names of the nodes with a service, in node order, with commas
//	%ip.service.<svc>%  %ip.<kind>.service.<svc>%   their addresses
//	%host.service.<svc>[i]%  %ip….service.<svc>[i]% the i-th of them, counted from 0
//	%num.service.<svc>%                   how many nodes have the service
//	%instance.self.service.<svc>%         this node's rank among them, counted from 1
//	%answer.<svc>.<field>%                what a person has typed at a step of the service on this node; on a node that does
//	                                      not have the service, what was typed on the first that has; empty until then
//	%fact.<svc>.<name>%                   what an action of the service reported on this node; where it reported nothing of that name
//	                                      here, what it reported on the first node that did; empty until then
//	%map(X,'fmt')%                        each element in a format: $ is the element, $$ a dollar sign
//	%join(X,'sep')%  %join(map(X,'fmt'),'sep')%     with another separator than the comma
//
// The language is Coopr's, so that its templates work as they are. Where it leaves room, or did harm, we decide:
//
//   - %% is never the edge of a macro and stays as written. A last % with no other after it is plain text ("100%"), but
//     between two single ones there must be a macro: "%h %t" is refused, as Coopr did, so that a misspelt macro is
//     never taken for text.
//   - A macro about a service that is on no node, or about this node's rank in a service that it does not have, stays
//     as written. Coopr lost it when another macro was in the same text.
//   - Lists are always in the order of node numbers.
//   - An [index] on a macro that is no list is refused; Coopr ignored it.
//   - What a macro is replaced by is not searched for macros again.

// MacroConfig is a configuration whose macros have been understood. It is not changed after it was made; share it
// freely.
type MacroConfig struct {
	root   macroValue
	named  []string       // services whose addresses are named, sorted
	asked  []string       // services whose answers are named, sorted
	facts  []app.FactName // facts that are named, sorted
	needed []indexedMacro // macros that need so many nodes
}

type indexedMacro struct {
	macro *macro
	path  string
}

// macroValue is one value of a configuration. Text is set for a string with macros; fields and items hold those members
// of the object or list in plain that have macros somewhere inside. With none of these, plain is the value.
type macroValue struct {
	plain  any
	path   string // set for texts, for error messages
	text   []macroPart
	fields []macroField
	items  []macroItem
}

type macroField struct {
	key   string
	value macroValue
}

type macroItem struct {
	index int
	value macroValue
}

func (v *macroValue) done() bool { return v.text == nil && v.fields == nil && v.items == nil }

// ParseMacros reads the macros in the string values of a configuration made of map[string]any, []any and plain values,
// as JSON returns them; keys are left alone. The configuration is kept, not copied: do not change it afterwards. EInvalid
// (reason "macro") says which place is wrong and what would be right.
func ParseMacros(config map[string]any) (*MacroConfig, error) {
	m := &MacroConfig{}
	root, err := m.parse("config", config)
	if err != nil {
		return nil, err
	}
	m.root = root
	slices.Sort(m.named)
	m.named = slices.Compact(m.named)
	slices.Sort(m.asked)
	m.asked = slices.Compact(m.asked)
	slices.SortFunc(m.facts, func(a, b app.FactName) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Name, b.Name))
	})
	m.facts = slices.Compact(m.facts)
	return m, nil
}

func (m *MacroConfig) parse(path string, value any) (macroValue, error) {
	v := macroValue{plain: value}
	switch value := value.(type) {
	case string:
		parts, problem := SplitMacros(value)
		if problem != nil {
			return v, problem.at(path)
		}
		if parts != nil {
			v.text, v.path = parts, path
			m.note(path, parts)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			field, err := m.parse(PathOf(path, key), value[key])
			if err != nil {
				return v, err
			}
			if !field.done() {
				v.fields = append(v.fields, macroField{key, field})
			}
		}
	case []any:
		for i := range value {
			item, err := m.parse(fmt.Sprintf("%s[%d]", path, i), value[i])
			if err != nil {
				return v, err
			}
			if !item.done() {
				v.items = append(v.items, macroItem{i, item})
			}
		}
	}
	return v, nil
}

// note remembers what the planner will want to know.
func (m *MacroConfig) note(path string, parts []macroPart) {
	for _, part := range parts {
		if part.Macro != nil && part.Macro.kind == macroAnswer {
			m.asked = append(m.asked, part.Macro.Service)
		}
		if part.Macro != nil && part.Macro.kind == macroFact {
			m.facts = append(m.facts, app.FactName{Service: part.Macro.Service, Name: part.Macro.field})
		}
		if part.Macro == nil || !part.Macro.namesAddresses() {
			continue
		}
		m.named = append(m.named, part.Macro.Service)
		if part.Macro.index >= 0 {
			m.needed = append(m.needed, indexedMacro{part.Macro, path})
		}
	}
}

// PathOf writes a key as a person would: quoted where it could be taken for more than one.
func PathOf(path, key string) string {
	plain := key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r == '.' || r >= 0x80 || !macroNameByte(byte(r))
	})
	if plain {
		return path + "." + key
	}
	return path + "[" + strconv.Quote(key) + "]"
}

func (s *macroSyntax) at(path string) *app.Error {
	shown := s.body
	if len(shown) > 60 {
		shown = strings.ToValidUTF8(shown[:60], "") + "…"
	}
	place := path
	if place == "" {
		place = "the text"
	}
	return &app.Error{
		Code: app.EInvalid, Reason: "macro", Field: path, Hint: s.hint,
		Message: fmt.Sprintf("In %s, %q between two %% signs isn't a macro: %s.", place, shown, s.what),
	}
}

// References returns the services whose host names or addresses are named, sorted: all their nodes must be there before
// the configuration can be expanded. It may name services that are not on the cluster.
func (m *MacroConfig) References() []string { return slices.Clone(m.named) }

// Asked returns the services whose answers are named, sorted.
func (m *MacroConfig) Asked() []string { return m.asked }

// Facts returns the facts that are named, sorted.
func (m *MacroConfig) Facts() []app.FactName { return m.facts }

// Check tells, before any node exists, whether every [index] will find its node. NodesWith returns how many nodes have a
// service; services on no node are no problem, since their macros stay as written. The error is EInvalid, reason
// "macro_index".
func (m *MacroConfig) Check(nodesWith func(service string) int) error {
	for _, n := range m.needed {
		if have := nodesWith(n.macro.Service); have > 0 && n.macro.index >= have {
			e := n.macro.beyond(n.path, have)
			e.Code, e.Reason = app.EInvalid, "macro_index"
			return e
		}
	}
	return nil
}

// beyond is the error for an index that is too large; EConflict, as when it shows only at expansion.
func (m *macro) beyond(path string, have int) *app.Error {
	return &app.Error{
		Code: app.EConflict, Reason: "incomplete", Field: path,
		Message: fmt.Sprintf("%s in %s names node %d with %s, but there %s.",
			m.source, placeOr(path), m.index+1, m.Service, countOf(have)),
		Hint: fmt.Sprintf("Indexes start at 0: use a smaller one, or place %[2]s on %[1]d nodes.", m.index+1, m.Service),
	}
}

func countOf(n int) string {
	if n == 1 {
		return "is only 1"
	}
	return fmt.Sprintf("are only %d", n)
}

func placeOr(path string) string {
	if path == "" {
		return "the text"
	}
	return path
}
