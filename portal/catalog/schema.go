package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"muster/app/catalog"
)

// entrySchema is the JSON Schema of catalog entries, read once.
type entrySchema struct {
	mu   sync.Mutex
	text string
	root map[string]any
}

// of returns the schema of a kind; nil without a valid schema.
func (s *entrySchema) of(text, kind string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil || s.text != text {
		s.text, s.root = text, map[string]any{}
		_ = json.Unmarshal([]byte(text), &s.root) // without a schema there is nothing to look up
	}
	defs, _ := s.root["$defs"].(map[string]any)
	out, _ := defs[kind].(map[string]any)
	return out
}

// schemaAt returns the schema of a path; nil if unknown.
func schemaAt(s map[string]any, path []any) map[string]any {
	for _, p := range path {
		s = schemaStep(s, p)
		if s == nil {
			return nil
		}
	}
	return s
}

func schemaStep(s map[string]any, p any) map[string]any {
	for _, form := range schemaForms(s) {
		switch p := p.(type) {
		case string:
			properties, _ := form["properties"].(map[string]any)
			if x, ok := properties[p].(map[string]any); ok {
				return x
			}
			if x, ok := form["additionalProperties"].(map[string]any); ok {
				return x
			}
		case int:
			if x, ok := form["items"].(map[string]any); ok {
				return x
			}
		}
	}
	return nil
}

// schemaForms are the alternatives for a value.
func schemaForms(s map[string]any) (out []map[string]any) {
	one, ok := s["oneOf"].([]any)
	if !ok {
		return []map[string]any{s}
	}
	for _, x := range one {
		if m, ok := x.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// schemaDoc is the documentation of a place.
func schemaDoc(s map[string]any, path []any) string {
	doc, _ := schemaAt(s, path)["description"].(string)
	return doc
}

// schemaShape describes a value's type briefly.
func schemaShape(s map[string]any) string {
	var words []string
	for _, form := range schemaForms(s) {
		word := ""
		switch {
		case form["const"] != nil:
			word = fmt.Sprint(form["const"])
		case form["enum"] != nil:
			list, _ := form["enum"].([]any)
			for _, x := range list {
				words = append(words, fmt.Sprint(x))
			}
		default:
			switch form["type"] {
			case "string":
				word = "text"
			case "integer":
				word = "whole number"
			case "number":
				word = "number"
			case "boolean":
				word = "true or false"
			case "array":
				word = "list"
			case "object":
				word = "mapping"
			}
		}
		if word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// reference lists the keys of the mapping around a line.
func reference(schema map[string]any, tree *catalog.Node, line int) Reference {
	path := pathAtLine(tree, line)
	for len(path) > 0 && !hasKeys(schemaAt(schema, path)) {
		path = path[:len(path)-1]
	}
	at := schemaAt(schema, path)
	out := Reference{At: dotted(path)}
	out.Doc, _ = at["description"].(string)
	here := tree.At(path...)
	for _, form := range schemaForms(at) {
		properties, _ := form["properties"].(map[string]any)
		need, _ := form["required"].([]any)
		for _, key := range slices.Sorted(maps.Keys(properties)) {
			x, _ := properties[key].(map[string]any)
			doc, _ := x["description"].(string)
			out.Keys = append(out.Keys, KeyDoc{Key: key, Doc: doc, Shape: schemaShape(x), Need: slices.Contains(need, any(key)), Has: here.At(key) != nil})
		}
	}
	return out
}

func hasKeys(s map[string]any) bool {
	for _, form := range schemaForms(s) {
		if properties, _ := form["properties"].(map[string]any); len(properties) > 0 {
			return true
		}
	}
	return false
}

// pathAtLine is the path to the innermost value that begins on a line or above it.
func pathAtLine(n *catalog.Node, line int) (path []any) {
	for n != nil && len(n.Items) > 0 {
		at := -1
		for i, x := range n.Items {
			if x.Line <= line {
				at = i
			}
		}
		if at < 0 {
			return path
		}
		if n.Map {
			path = append(path, n.Keys[at])
		} else {
			path = append(path, at)
		}
		n = n.Items[at]
	}
	return path
}

// dotted writes a path as problems name it, such as constraints.services.db.min or links[0].url.
func dotted(path []any) string {
	var b strings.Builder
	for i, p := range path {
		if n, ok := p.(int); ok {
			fmt.Fprintf(&b, "[%d]", n)
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		fmt.Fprint(&b, p)
	}
	return b.String()
}
