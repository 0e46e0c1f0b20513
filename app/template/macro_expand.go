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

// MacroCluster is what macros can speak of. Nodes may come in any order and are not changed. NewMacroCluster prepares
// one for repeated use; a literal works as well, and is prepared again at each call.
type MacroCluster struct {
	Owner string
	Nodes []app.Node

	Index macroIndex `json:"-"`
}

// macroIndex holds the places in Nodes of the nodes with each service, by node number.
type macroIndex map[string][]int

func (c *MacroCluster) Services() macroIndex {
	if c.Index != nil {
		return c.Index
	}
	order := make([]int, len(c.Nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := c.Nodes[a].Name, c.Nodes[b].Name
		return cmp.Or(cmp.Compare(app.NodeNumber(x), app.NodeNumber(y)), cmp.Compare(x, y))
	})
	index := macroIndex{}
	for _, i := range order {
		for _, s := range c.Nodes[i].Services {
			if have := index[s]; len(have) == 0 || have[len(have)-1] != i {
				index[s] = append(have, i)
			}
		}
	}
	return index
}

// macroEval expands the macros of one cluster, each list being put together once.
type macroEval struct {
	cluster *MacroCluster
	index   macroIndex
	lists   map[macroList][]string
}

type macroList struct {
	kind             macroKind
	service, address string
}

func newMacroEval(c *MacroCluster) *macroEval {
	return &macroEval{cluster: c, index: c.Services(), lists: map[macroList][]string{}}
}

// value expands a macro that does not depend on the node. ok is false where it stays as written.
func (e *macroEval) value(m *macro, path string) (text string, ok bool, err error) {
	if m.kind == macroOwner {
		return m.join([]string{e.cluster.Owner}), true, nil
	}
	nodes := e.index[m.Service]
	switch {
	case len(nodes) == 0:
		return "", false, nil
	case m.kind == macroCount:
		return m.join([]string{strconv.Itoa(len(nodes))}), true, nil
	case m.index >= len(nodes):
		return "", false, m.beyond(path, len(nodes))
	case m.index >= 0:
		one, err := m.of(e.cluster.Nodes[nodes[m.index]], path)
		return m.join([]string{one}), err == nil, err
	}
	key := macroList{m.kind, m.Service, m.address}
	list, have := e.lists[key]
	if !have {
		list = make([]string, len(nodes))
		for i, n := range nodes {
			if list[i], err = m.of(e.cluster.Nodes[n], path); err != nil {
				return "", false, err
			}
		}
		e.lists[key] = list
	}
	return m.join(list), true, nil
}

// of returns a node's host name or address.
func (m *macro) of(n app.Node, path string) (string, error) {
	value, what := n.Hostname, "host name"
	if m.kind == macroIPs || m.kind == macroIPSelf {
		value, what = n.Address(m.address), m.address+" address"
	}
	if value != "" {
		return value, nil
	}
	return "", &app.Error{
		Code: app.EConflict, Reason: "incomplete", Field: path,
		Message: fmt.Sprintf("Can't expand %s in %s: the %s of %s is unknown.", m.source, placeOr(path), what, n.Name),
		Hint:    fmt.Sprintf("The value is available once %s is confirmed, if the provider reports one.", n.Name),
	}
}

// join formats the elements and puts the separator between them.
func (m *macro) join(list []string) string {
	if !m.formatted {
		return strings.Join(list, m.separator)
	}
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(m.separator)
		}
		for rest := m.format; ; {
			before, after, found := strings.Cut(rest, "$")
			b.WriteString(before)
			if !found {
				break
			}
			if escaped, ok := strings.CutPrefix(after, "$"); ok {
				b.WriteByte('$')
				rest = escaped
			} else {
				b.WriteString(s)
				rest = after
			}
		}
	}
	return b.String()
}

// SharedConfig is a configuration in which only what depends on the node is left to expand. It is not changed after it
// was made; share it freely.
type SharedConfig struct {
	root  macroValue
	ranks macroRanks
}

// macroRanks returns, by service and node name, a node's rank among those with the service.
type macroRanks map[string]map[string]int

// Shared expands all that is the same for every node, once for the whole cluster. EConflict (reason "incomplete") tells
// that a host name or address is not known yet, or that an [index] is too large.
func (m *MacroConfig) Shared(c MacroCluster) (*SharedConfig, error) {
	e := newMacroEval(&c)
	s := &SharedConfig{ranks: macroRanks{}}
	root, err := m.root.expand(func(m *macro, path string) (string, bool, error) {
		switch {
		case m.kind == macroInstance:
			s.ranks.add(e, m.Service)
			return "", false, nil
		case m.ofNode():
			return "", false, nil
		}
		text, ok, err := e.value(m, path)
		if !ok {
			text = m.source
		}
		return text, true, err
	})
	if err != nil {
		return nil, err
	}
	s.root = root
	return s, nil
}

func (r macroRanks) add(e *macroEval, service string) {
	if _, have := r[service]; have {
		return
	}
	nodes := e.index[service]
	ranks := make(map[string]int, len(nodes))
	for i, n := range nodes {
		ranks[e.cluster.Nodes[n].Name] = i + 1
	}
	r[service] = ranks
}

// For expands the rest for one node. The result shares all that does not depend on the node with every other result and
// with the configuration that was parsed: it is read-only. EConflict (reason "incomplete") tells that the node's own
// host name or address is not known.
func (s *SharedConfig) For(node app.Node) (map[string]any, error) {
	root, err := s.root.expand(func(m *macro, path string) (string, bool, error) {
		text, err := m.self(node, s.ranks, path)
		return text, true, err
	})
	if err != nil {
		return nil, err
	}
	config, _ := root.plain.(map[string]any)
	return config, nil
}

// self expands a macro about this node, or returns it as written.
func (m *macro) self(node app.Node, ranks macroRanks, path string) (string, error) {
	if m.kind == macroAnswer {
		return m.join([]string{node.Answers[m.Service][m.field].Text}), nil
	}
	if m.kind == macroFact {
		return m.join([]string{node.Facts[app.FactName{Service: m.Service, Name: m.field}]}), nil
	}
	if m.kind == macroInstance {
		rank, ok := ranks[m.Service][node.Name]
		if !ok {
			return m.source, nil
		}
		return m.join([]string{strconv.Itoa(rank)}), nil
	}
	value, err := m.of(node, path)
	if err != nil {
		return "", err
	}
	return m.join([]string{value}), nil
}

// expand replaces the macros that have a value and returns what is left to do. It copies only objects and lists in which
// something was replaced.
func (v *macroValue) expand(value func(m *macro, path string) (string, bool, error)) (macroValue, error) {
	switch {
	case v.text != nil:
		return v.expandText(value)
	case v.fields != nil:
		object := maps.Clone(v.plain.(map[string]any))
		left := macroValue{plain: object}
		for i := range v.fields {
			field, err := v.fields[i].value.expand(value)
			if err != nil {
				return left, err
			}
			if object[v.fields[i].key] = field.plain; !field.done() {
				left.fields = append(left.fields, macroField{v.fields[i].key, field})
			}
		}
		return left, nil
	case v.items != nil:
		list := slices.Clone(v.plain.([]any))
		left := macroValue{plain: list}
		for i := range v.items {
			item, err := v.items[i].value.expand(value)
			if err != nil {
				return left, err
			}
			if list[v.items[i].index] = item.plain; !item.done() {
				left.items = append(left.items, macroItem{v.items[i].index, item})
			}
		}
		return left, nil
	}
	return *v, nil
}

// expandText leaves the macros without a value in place and melts all else into plain text.
func (v *macroValue) expandText(value func(m *macro, path string) (string, bool, error)) (macroValue, error) {
	var left []macroPart
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			left = append(left, macroPart{text: b.String()})
			b.Reset()
		}
	}
	waiting := false
	for _, part := range v.text {
		if part.Macro == nil {
			b.WriteString(part.text)
			continue
		}
		text, ok, err := value(part.Macro, v.path)
		if err != nil {
			return macroValue{}, err
		}
		if ok {
			b.WriteString(text)
			continue
		}
		flush()
		left = append(left, part)
		waiting = true
	}
	if !waiting {
		return macroValue{plain: b.String()}, nil
	}
	flush()
	return macroValue{plain: v.plain, path: v.path, text: left}, nil
}

// ExpandString expands the macros of one text, such as a link. Self nil means that the text belongs to no node: macros
// about this node stay as written. Errors are those of ParseMacros and Shared, without a place.
func ExpandString(s string, c MacroCluster, self *app.Node) (string, error) {
	parts, problem := SplitMacros(s)
	if problem != nil {
		return "", problem.at("")
	}
	if parts == nil {
		return s, nil
	}
	e := newMacroEval(&c)
	ranks := macroRanks{}
	v := macroValue{plain: s, text: parts}
	done, err := v.expandText(func(m *macro, path string) (string, bool, error) {
		if m.ofNode() {
			if self == nil {
				return m.source, true, nil
			}
			if m.kind == macroInstance {
				ranks.add(e, m.Service)
			}
			text, err := m.self(*self, ranks, path)
			return text, true, err
		}
		text, ok, err := e.value(m, path)
		if !ok {
			text = m.source
		}
		return text, true, err
	})
	if err != nil {
		return "", err
	}
	return done.plain.(string), nil
}

// NewMacroCluster prepares a cluster for macros, at a cost that grows with the number of its nodes and their services.
func NewMacroCluster(owner string, nodes []app.Node) MacroCluster {
	c := MacroCluster{Owner: owner, Nodes: nodes}
	c.Index = c.Services()
	return c
}
