package form

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"muster/app/template"
)

// writer is a type that writes itself, as a noder reads itself. Nil is nothing to write.
type writer interface {
	toNode() *yaml.Node
}

// spelled is a type that writes itself even where it holds nothing but usual values.
type spelled interface {
	isSaid() bool
}

// nodeOf returns a document of our own form as a tree. Keys stand in the order of the struct's fields; what is absent, or the zero value,
// is left out.
func nodeOf(doc any) *yaml.Node {
	return encode(reflect.ValueOf(doc))
}

func encode(v reflect.Value) *yaml.Node {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return plainNode(nil)
		}
		if w, ok := v.Interface().(writer); ok {
			return w.toNode()
		}
		v = v.Elem()
	}
	if w, ok := v.Interface().(writer); ok {
		return w.toNode()
	}
	switch v.Kind() {
	case reflect.Struct:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, f := range FieldsOf(v.Type()) {
			x := v.FieldByIndex(f.index)
			if !f.need && nothing(x) {
				continue
			}
			if value := encode(x); value != nil {
				n.Content = append(n.Content, textNode(f.Key), value)
			}
		}
		return tight(n)
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, k := range slices.Sorted(maps.Keys(keysOf(v))) {
			n.Content = append(n.Content, textNode(k), encode(v.MapIndex(reflect.ValueOf(k))))
		}
		return tight(n)
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, encode(v.Index(i)))
		}
		return tight(n)
	case reflect.Float64:
		if f := v.Float(); f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return plainNode(int64(f))
		}
	}
	return plainNode(v.Interface())
}

func keysOf(v reflect.Value) map[string]bool {
	keys := make(map[string]bool, v.Len())
	for _, k := range v.MapKeys() {
		keys[k.String()] = true
	}
	return keys
}

// nothing reports whether a field need not be written.
func nothing(v reflect.Value) bool {
	if s, ok := v.Interface().(spelled); ok && s.isSaid() {
		return false
	}
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		return v.Len() == 0
	case reflect.Struct:
		fields := FieldsOf(v.Type())
		for _, f := range fields {
			if !nothing(v.FieldByIndex(f.index)) {
				return false
			}
		}
		w, ok := v.Interface().(writer)
		return len(fields) > 0 || !ok || w.toNode() == nil
	}
	return v.IsZero()
}

func (l leaseDoc) isSaid() bool { return l.said }

func (l leaseDoc) toNode() *yaml.Node {
	type mapping leaseDoc
	if l.said && l.Initial == 0 && l.Max == 0 && l.Step == 0 {
		return tight(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("initial"), plainNode(0)}})
	}
	return encode(reflect.ValueOf(mapping(l)))
}

func (c constraintsDoc) isSaid() bool { return c.mixed }

func (c constraintsDoc) toNode() *yaml.Node {
	type mapping constraintsDoc
	n := encode(reflect.ValueOf(mapping(c)))
	if c.mixed && !c.MixedHardware {
		n.Content = append(n.Content, textNode("mixed_hardware"), plainNode(false))
	}
	return n
}

// toNode writes a shell script as itself.
func (a actionDoc) toNode() *yaml.Node {
	type mapping actionDoc
	switch {
	case a.person != nil:
		return nodeOf(personActionDoc{*a.person})
	case a.Automator == "shell" && a.Timeout == 0 && len(a.Fields) == 1 && len(a.Resources) == 0 && a.Fields["script"] != "":
		return textNode(a.Fields["script"])
	}
	return encode(reflect.ValueOf(mapping(a)))
}

func (s defaultServiceDoc) toNode() *yaml.Node { return textNode(s.Name) }

func (i immutableDoc) toNode() *yaml.Node {
	if len(i.parts) == 0 {
		return nil
	}
	return nodeOf(i.parts)
}

func (s scalarDoc) toNode() *yaml.Node {
	if s.value == nil {
		return nil
	}
	return plainNode(s.value)
}

func (o optionDoc) toNode() *yaml.Node {
	type mapping optionDoc
	if o.Label == "" {
		return textNode(o.Value)
	}
	return encode(reflect.ValueOf(mapping(o)))
}

func (t targetsDoc) toNode() *yaml.Node {
	if len(t) == 1 {
		return textNode(t[0])
	}
	return nodeOf([]string(t))
}

func (r ratioDoc) toNode() *yaml.Node {
	return textNode(fmt.Sprintf("one %s per %d %s", r.Service, r.Per, r.Of))
}

func (a askDoc) toNode() *yaml.Node {
	if a == template.AskBetweenBatches {
		return plainNode(true)
	}
	return textNode(string(a))
}

func (x duration) toNode() *yaml.Node {
	left, out := x.seconds(), ""
	if left <= 0 {
		return plainNode(0)
	}
	for _, u := range []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if n := left / u.seconds; n > 0 {
			out += fmt.Sprint(n) + u.name
			left -= n * u.seconds
		}
	}
	return textNode(out)
}

// toNode finds the unit in which a whole number returns the rate.
func (x Rate) toNode() *yaml.Node {
	for _, u := range []struct {
		seconds float64
		name    string
	}{{1, "s"}, {60, "m"}, {3600, "h"}} {
		if n := x.PerSecond * u.seconds; math.Abs(n-math.Round(n)) < 1e-6 && n >= 1 {
			return textNode(fmt.Sprintf("%.0f/%s", n, u.name))
		}
	}
	return nil
}

func (s share) toNode() *yaml.Node {
	if s == 0 {
		return nil
	}
	return textNode(fmt.Sprintf("%d%%", int(s)))
}

func (p port) toNode() *yaml.Node      { return numberOrText(string(p)) }
func (l limitDoc) toNode() *yaml.Node  { return numberOrText(string(l)) }
func (s nodeShare) toNode() *yaml.Node { return numberOrText(string(s)) }

// numberOrText writes a text without quotes where it is read back as the same text either way.
func numberOrText(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: s}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return n
	}
	return textNode(s)
}

// textNode writes a text: as a block where it has several lines, in quotes where it would be read as something else.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case strings.Contains(s, "\n") && blocks(s):
		n.Style = yaml.LiteralStyle
	case strings.ContainsAny(s, "\n\t\r") || strings.TrimSpace(s) != s || oldTruth[strings.ToLower(s)] || !standsBare(s):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// oldTruth are words that older readers of YAML take for true or false.
var oldTruth = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true}

// blocks reports whether a text of several lines can stand as a block and comes back as it was.
func blocks(s string) bool {
	if strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") || strings.HasPrefix(s, "\t") || !standsBare(s) || strings.Trim(s, "\n") == "" {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasSuffix(line, " ") || strings.HasSuffix(line, "\t") {
			return false
		}
	}
	return true
}

// standsBare reports whether a text has only what YAML lets stand as it is.
func standsBare(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xfffe
	})
}

// plainNode writes free-form content; see decoder.plain.
func plainNode(v any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := v.(type) {
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case string:
		return textNode(v)
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case float64:
		n.Tag, n.Value = "!!float", strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(n.Value, ".e") {
			n.Tag, n.Value = "", n.Value+".0"
		}
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			n.Tag, n.Value = "", strconv.FormatFloat(v, 'f', 1, 64)
		}
	case map[string]any:
		n.Kind = yaml.MappingNode
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, textNode(k), plainNode(v[k]))
		}
		return tight(n)
	case []any:
		n.Kind = yaml.SequenceNode
		for _, x := range v {
			n.Content = append(n.Content, plainNode(x))
		}
		return tight(n)
	default:
		n.Value = fmt.Sprint(v) // whole numbers, and text types of ours
		if reflect.TypeOf(v).Kind() == reflect.String {
			return textNode(n.Value)
		}
	}
	return n
}

// narrow is how wide a list or mapping may be that is on one line.
const narrow = 80

// tight puts what is short, and holds only plain values or lists of them, on one line.
func tight(n *yaml.Node) *yaml.Node {
	if width(n) <= narrow {
		n.Style = yaml.FlowStyle
	}
	return n
}

// width is how long a value is on one line; what cannot stand on one, or would be hard to read, is very long.
func width(n *yaml.Node) int {
	const never = 1 << 20
	if n.Kind == yaml.ScalarNode {
		if n.Style == yaml.LiteralStyle || len(n.Value) > narrow {
			return never
		}
		return len(n.Value) + 2
	}
	if len(n.Content) == 0 {
		return 2
	}
	if n.Kind == yaml.MappingNode && len(n.Content) > 8 {
		return never
	}
	w := 2
	for _, x := range n.Content {
		if x.Kind != yaml.ScalarNode && len(x.Content) > 0 {
			return never // what holds more than plain values has lines of its own
		}
		w += width(x)
	}
	return w
}

var (
	_ writer = duration(0)
	_ writer = Rate{}
	_ writer = actionDoc{}
)
