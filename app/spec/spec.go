package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"muster/app"
)

// YAML writes a spec as a file for people: what it does not say stands in comments.
func YAML(e app.SpecExport) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What to ask for to get a cluster like %s: muster cluster create -f FILE\n", oneLine(e.Spec.Name))
	for _, g := range e.Groups {
		fmt.Fprintf(&b, "#   %d × %s with %s: %s\n", g.Count, oneLine(g.Hardware), oneLine(g.Image), oneLine(strings.Join(g.Services, ", ")))
	}
	for _, p := range e.LeftOut {
		fmt.Fprintf(&b, "# left out, since it may be secret: %s\n", oneLine(p))
	}
	// The keys and their order are those of the JSON form.
	var doc yaml.Node
	v := reflect.ValueOf(e.Spec)
	doc.Kind = yaml.MappingNode
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			continue
		}
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		// Through JSON, so that numbers of whatever type look the same.
		text, err := json.Marshal(v.Field(i).Interface())
		if err != nil {
			return nil, fmt.Errorf("spec: %s: %w", key, err)
		}
		var value yaml.Node
		if err := yaml.Unmarshal(text, &value); err != nil {
			return nil, fmt.Errorf("spec: %s: %w", key, err)
		}
		inBlocks(&value)
		doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value.Content[0])
	}
	out := yaml.NewEncoder(&b)
	out.SetIndent(2)
	if err := errors.Join(out.Encode(&doc), out.Close()); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return b.Bytes(), nil
}

// oneLine keeps a comment a comment.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }), " ")
}

// inBlocks lets a node be written as people write YAML, not as JSON.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && slices.Contains(oldBools, strings.ToLower(n.Value)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		inBlocks(c)
	}
}

// oldBools are texts that older readers of YAML take for true or false.
var oldBools = []string{"y", "n", "yes", "no", "on", "off"}

// Bounds of a spec's file.
const (
	mostSpec      = 1 << 20 // bytes
	mostSpecDepth = 64
)

// Parse reads a spec in YAML or JSON. EInvalid says in which line what is wrong, and for a key that is not known which one
// is near. Values are taken as they stand: no key may come twice, and no alias may be used.
func Parse(text []byte) (app.ClusterSpec, error) {
	var s app.ClusterSpec
	if len(text) > mostSpec {
		return s, &app.Error{Code: app.ETooLarge, Message: "The spec is longer than 1 MiB."}
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return s, specError(0, "There is nothing in it.", "It holds at least template and size.")
		}
		return s, specError(0, app.GoWords(err)+".", "")
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return s, specError(0, "There is more than one document in it.", "Write each into a file of its own.")
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return s, specError(root.Line, "It is not a list of keys and values.", "It begins like: template: web")
	}
	fields := map[string]reflect.Value{}
	var known []string
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fields[key], known = v.Field(i), append(known, key)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, value := root.Content[i], root.Content[i+1]
		field, ok := fields[k.Value]
		if !ok {
			return s, specError(k.Line, fmt.Sprintf("There is no key %.60q in a spec.", k.Value), app.Suggest(k.Value, known))
		}
		if !field.IsValid() {
			return s, specError(k.Line, fmt.Sprintf("The key %q stands there twice.", k.Value), "Leave one of them out.")
		}
		if err := checkSpecNode(value, 0); err != nil {
			return s, err
		}
		if err := value.Decode(field.Addr().Interface()); err != nil {
			return s, specError(value.Line, fmt.Sprintf("%s has a wrong value.", k.Value), specForm(k.Value))
		}
		fields[k.Value] = reflect.Value{}
	}
	if s.Template == "" {
		return s, specError(root.Line, "It does not say which template.", "Add: template: NAME")
	}
	return s, nil
}

// checkSpecNode refuses what would be read as something else than it looks like.
func checkSpecNode(n *yaml.Node, depth int) error {
	switch {
	case depth > mostSpecDepth:
		return specError(n.Line, "It is nested too deeply.", "")
	case n.Kind == yaml.AliasNode:
		return specError(n.Line, "Aliases are not read.", "Write the value itself.")
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp":
		n.Tag = "!!str" // a date stays as it was written
	case n.Kind == yaml.MappingNode:
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" {
				return specError(k.Line, "Keys are texts.", "")
			}
			if k.Tag != "!!str" {
				return specError(k.Line, fmt.Sprintf("The key %.60s is not a text.", k.Value), "Put it into quotes.")
			}
			if seen[k.Value] {
				return specError(k.Line, fmt.Sprintf("The key %.60q stands there twice.", k.Value), "Leave one of them out.")
			}
			seen[k.Value] = true
		}
	}
	for _, c := range n.Content {
		if err := checkSpecNode(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func specForm(key string) string {
	switch key {
	case "size":
		return "It is a whole number, such as 3."
	case "services":
		return "It is a list, such as [nginx, haproxy]."
	case "config", "parameters":
		return "It holds keys and values."
	}
	return "It is a text."
}

func specError(line int, message, hint string) error {
	e := &app.Error{Code: app.EInvalid, Field: "spec", Message: message, Hint: hint}
	if line > 0 {
		e.Message = fmt.Sprintf("Line %d: %s", line, message)
	}
	return e
}
