package tenantfile

import (
	"bytes"
	"encoding"
	"math"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"muster/app/settings"
)

const head = `Settings of a Muster tenant. To preview their changes: muster tenant import FILE --dry-run.
The file contains no secrets: ${secret:NAME} is a placeholder. See docs/tenant-settings.md.`

func (Files) WriteTenant(s settings.TenantSettings) string {
	root := write(reflect.ValueOf(formOf(s)))
	root.HeadComment = head
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		panic("tenantfile: writing the file: " + err.Error())
	}
	return b.String()
}

// write returns the node of a value; nil for one that is left out.
func write(v reflect.Value) *yaml.Node {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return write(v.Elem())
	}
	if t, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := t.MarshalText()
		if err != nil {
			panic("tenantfile: " + err.Error())
		}
		return textNode(string(text))
	}
	switch v.Kind() {
	case reflect.Struct:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for i := range v.NumField() {
			name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			f := v.Field(i)
			if strings.Contains(options, "omit") && f.IsZero() { // an empty part is there all the same
				continue
			}
			if x := write(f); x != nil {
				n.Content = append(n.Content, textNode(name), x)
			}
		}
		return n
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		var keys []string
		for _, k := range v.MapKeys() {
			keys = append(keys, k.String())
		}
		if len(keys) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, k := range sorted(keys) {
			x := write(v.MapIndex(reflect.ValueOf(k).Convert(v.Type().Key())))
			if x == nil {
				x = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
			}
			n.Content = append(n.Content, textNode(k), x)
		}
		return n
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		short := 0
		for i := range v.Len() {
			x := write(v.Index(i))
			if x == nil {
				x = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
			}
			n.Content = append(n.Content, x)
			if x.Kind == yaml.ScalarNode {
				short += len(x.Value) + 2
			} else {
				short = math.MinInt32
			}
		}
		if short >= 0 && short < 80 || v.Len() == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case reflect.String:
		return textNode(v.String())
	case reflect.Bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v.Bool())}
	case reflect.Int, reflect.Int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v.Int(), 10)}
	case reflect.Float64:
		f := v.Float()
		if f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(int64(f), 10)}
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: strconv.FormatFloat(f, 'g', -1, 64)}
	}
	panic("tenantfile: no way to write a " + v.Type().String())
}

// textNode is a text, on lines of its own where it has several.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if strings.Contains(s, "\n") && !strings.ContainsAny(s, "\r\u0085\u2028\u2029\ufeff") && strings.Trim(s, "\n ") != "" && !strings.HasPrefix(s, " ") && !strings.HasPrefix(s, "\n") {
		n.Style = yaml.LiteralStyle
	}
	var back string
	if b, err := yaml.Marshal(n); err != nil || yaml.Unmarshal(b, &back) != nil || back != s { // what the writer cannot write otherwise
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
