package spec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	"muster/app"
	"muster/app/cluster"
	"muster/app/file/yamlfile"
	"muster/app/template"
)

// YAML writes a spec as a file for people: what it does not say is in comments.
func YAML(e cluster.SpecExport) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Spec of a cluster like %s. Create one with: muster cluster create -f FILE\n", oneLine(e.Spec.Name))
	for _, g := range e.Groups {
		fmt.Fprintf(&b, "#   %d × %s with %s: %s\n", g.Count, oneLine(g.Hardware), oneLine(g.Image), oneLine(strings.Join(g.Services, ", ")))
	}
	for _, p := range e.Omitted {
		fmt.Fprintf(&b, "# left out, since it may contain a secret: %s\n", oneLine(p))
	}
	// The keys and their order are those of the JSON form.
	var doc yaml.Node
	v := reflect.ValueOf(e.Spec)
	doc.Kind = yaml.MappingNode
	for _, at := range reflect.VisibleFields(v.Type()) {
		field := v.FieldByIndex(at.Index)
		if field.IsZero() || at.Anonymous {
			continue
		}
		key, _, _ := strings.Cut(at.Tag.Get("json"), ",")
		// Through JSON, so that numbers of whatever type look the same.
		text, err := json.Marshal(field.Interface())
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

// mostSpec is how long a spec's file may be, in bytes.
const mostSpec = 1 << 20

// Parse reads a spec in YAML or JSON. EInvalid tells all mistakes, each with its line and column; file is what the file is called there, ""
// where it has no name. Values are taken as they are written: no key may come twice, and anchors aren't supported.
func Parse(file string, text []byte) (cluster.Spec, error) {
	var s cluster.Spec
	if len(text) > mostSpec {
		return s, &app.Error{Code: app.ETooLarge, Field: "spec", Message: "The spec must be at most 1 MiB."}
	}
	f := yamlfile.Parse(string(text))
	switch {
	case f.Empty:
		f.Wrong(0, 0, "", "The file is empty.", "Set at least template and size.")
	case f.Root != nil:
		f.Read(f.Root, &s, "")
		check(f, s)
	}
	slices.SortStableFunc(f.Problems, func(a, b yamlfile.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return s, f.Err(file, "spec")
}

// check finds what is wrong in values that could be read. What only the template and the catalog know is found when it's asked for.
func check(f *yamlfile.File, s cluster.Spec) {
	wrong := func(key, message, hint string) {
		at := f.Places[key]
		f.Wrong(at.Line, at.Column, key, message, hint)
	}
	if _, said := f.Places["template"]; !said && (f.Root.Kind == yaml.MappingNode || len(f.Problems) == 0) {
		f.Wrong(f.Root.Line, f.Root.Column, "", "template is required.", "Add: template: NAME")
	}
	if s.Size < 0 || s.Size > template.MaxNodes {
		wrong("size", fmt.Sprintf("This must be from 1 to %d.", template.MaxNodes), "")
	}
	for _, e := range s.Complaints() {
		wrong(e.Field, e.Message, e.Hint)
	}
}
