package catalog

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"muster/app/file/catalog/form"
)

// valueNode writes a value in place of a node, which is nil where there was none, in the way in which that was written.
func valueNode(old *yaml.Node, value any) *yaml.Node {
	fresh := &yaml.Node{Kind: yaml.ScalarNode}
	if old != nil {
		fresh.HeadComment, fresh.LineComment, fresh.FootComment, fresh.Line, fresh.Column = old.HeadComment, old.LineComment, old.FootComment, old.Line, old.Column
	}
	switch v := value.(type) {
	case string:
		fresh.Tag, fresh.Value = "!!str", v
		if old != nil && old.Kind == yaml.ScalarNode && old.ShortTag() == "!!str" && old.Value != "" {
			fresh.Style = old.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
		}
		if strings.Contains(v, "\n") {
			fresh.Style = yaml.LiteralStyle
		}
	case int64:
		fresh.Tag, fresh.Value = "!!int", strconv.FormatInt(v, 10)
	case float64:
		fresh.Tag, fresh.Value = "!!float", strconv.FormatFloat(v, 'f', -1, 64)
		if v == float64(int64(v)) {
			fresh.Tag = "!!int"
		}
	case bool:
		fresh.Tag, fresh.Value = "!!bool", strconv.FormatBool(v)
	case []string:
		namesNode(fresh, old, v)
	case []any:
		fresh.Kind, fresh.Tag, fresh.Style = yaml.SequenceNode, "!!seq", yaml.FlowStyle
		if old != nil && old.Kind == yaml.SequenceNode {
			fresh.Style = old.Style
		}
		for _, x := range v {
			fresh.Content = append(fresh.Content, valueNode(nil, x))
		}
	case [][]string:
		groupsNode(fresh, old, v)
	default:
		fresh.Kind, fresh.Tag = yaml.MappingNode, "!!map"
	}
	return fresh
}

// namesNode writes a list of names; those already in it stay as they are, with what else is said of them.
func namesNode(fresh, old *yaml.Node, names []string) {
	fresh.Kind, fresh.Tag, fresh.Style = yaml.SequenceNode, "!!seq", yaml.FlowStyle
	var had []*yaml.Node
	if old != nil && old.Kind == yaml.SequenceNode {
		fresh.Style, had = old.Style, slices.Clone(old.Content)
	}
	length := 0
	for _, name := range names {
		length += len(name) + 2
		at := slices.IndexFunc(had, func(n *yaml.Node) bool { return n != nil && nameOf(n) == name })
		if at < 0 {
			fresh.Content = append(fresh.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name})
			continue
		}
		fresh.Content, had[at] = append(fresh.Content, had[at]), nil
	}
	if length > 100 && len(had) == 0 {
		fresh.Style = 0
	}
}

func nameOf(n *yaml.Node) string {
	if _, x := form.Child(n, "name"); x != nil {
		return x.Value
	}
	return n.Value
}

func groupsNode(fresh, old *yaml.Node, groups [][]string) {
	fresh.Kind, fresh.Tag = yaml.SequenceNode, "!!seq"
	if old != nil && old.Kind == yaml.SequenceNode {
		fresh.Style = old.Style
	}
	for i, g := range groups {
		var was *yaml.Node
		if old != nil && old.Kind == yaml.SequenceNode && i < len(old.Content) {
			was = old.Content[i]
		}
		one := valueNode(was, []string(nil))
		namesNode(one, was, g)
		fresh.Content = append(fresh.Content, one)
	}
}

// keyOrder returns the keys that may stand at a place, as they are usually ordered; nil where any may.
func keyOrder(k form.Kind, path []any) (out []string) {
	if !form.IsKind(k) {
		return []string{"kind", "name", "label", "description"}
	}
	t := reflect.TypeOf(form.NativeDoc(k)).Elem()
	for _, p := range path {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch key, isKey := p.(string); {
		case t.Kind() == reflect.Map && isKey, t.Kind() == reflect.Slice && !isKey:
			t = t.Elem()
		case t.Kind() == reflect.Struct && isKey:
			at := slices.IndexFunc(form.FieldsOf(t), func(f form.Field) bool { return f.Key == key })
			if at < 0 {
				return nil
			}
			t = form.FieldsOf(t)[at].Type
		default:
			return nil
		}
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range form.FieldsOf(t) {
		out = append(out, f.Key)
	}
	return out
}
