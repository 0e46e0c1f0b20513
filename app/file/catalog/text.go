package catalog

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
	"muster/app"
	"muster/app/catalog"
	"muster/app/file/catalog/form"
)

// Texts reads and changes the text of one entry, for forms.
type Texts struct{}

var _ catalog.Texts = Texts{}

// Tree carries out app.CatalogTexts.
func (Texts) Tree(text string) (*catalog.Node, error) {
	root, err := oneDocument(text)
	if err != nil {
		return nil, err
	}
	return treeOf(root, root.Line), nil
}

// Set carries out app.CatalogTexts.
func (Texts) Set(text string, sets ...catalog.Set) (string, error) {
	for _, s := range sets {
		if len(s.Path) == 0 || len(s.Path) > form.MaxDepth {
			return "", app.Errorf(app.EInvalid, "The text has no such path.")
		}
		var err error
		if text, err = setOne(text, s); err != nil {
			return "", err
		}
	}
	return text, nil
}

// oneDocument reads a text that is one mapping.
func oneDocument(text string) (*yaml.Node, error) {
	if len(text) > maxFileSize {
		return nil, app.Errorf(app.ETooLarge, "The text is larger than %d bytes.", maxFileSize)
	}
	dec := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF) || err == nil && (len(doc.Content) == 0 || doc.Content[0].ShortTag() == "!!null"):
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1, HeadComment: doc.HeadComment, FootComment: doc.FootComment}, nil
	case err != nil:
		return nil, unreadable(form.YAMLError(err))
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, unreadable(form.YAMLError(err))
		}
		return nil, &app.Error{Code: app.EInvalid, Message: "The text contains more than one entry.", Hint: "To save several entries at once, import them."}
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, &app.Error{Code: app.EInvalid, Message: "The text isn't a mapping.", Hint: "Start with kind: and name:."}
	}
	// Comments of the document stand with its first key, so that they are written again.
	root := doc.Content[0]
	if root.HeadComment == "" {
		root.HeadComment = doc.HeadComment
	}
	if root.FootComment == "" {
		root.FootComment = doc.FootComment
	}
	return root, nil
}

func unreadable(err error) error {
	e := app.Errorf(app.EInvalid, "Can't read the text: %w", err)
	e.Hint = "Fix the syntax error first."
	return e
}

// treeOf returns the app's word for a node. Aliases are not followed, so that a small text stays a small tree.
func treeOf(n *yaml.Node, line int) *catalog.Node {
	out := &catalog.Node{Line: line}
	switch n.Kind {
	case yaml.MappingNode:
		out.Map = true
		for i := 0; i+1 < len(n.Content); i += 2 {
			out.Keys = append(out.Keys, n.Content[i].Value)
			out.Items = append(out.Items, treeOf(n.Content[i+1], n.Content[i].Line))
		}
	case yaml.SequenceNode:
		out.List = true
		for _, x := range n.Content {
			out.Items = append(out.Items, treeOf(x, x.Line))
		}
	case yaml.AliasNode:
		out.Value = "*" + n.Value
	default:
		if n.ShortTag() != "!!null" {
			out.Value, out.Text = n.Value, n.ShortTag() == "!!str"
		}
	}
	return out
}

// put changes the tree. It returns the path to what has become other: where parents were made, or were emptied, the highest of them.
func put(root *yaml.Node, k form.Kind, s catalog.Set) (touched []any, err error) {
	if to, ok := s.Value.(catalog.To); ok {
		return move(root, s.Path, int(to))
	}
	n := root
	for i, p := range s.Path {
		last := i == len(s.Path)-1
		x, ok := step(n, p)
		if !ok {
			return nil, app.Errorf(app.EInvalid, "The text has no such path.")
		}
		if last && s.Value == nil {
			if x == nil {
				return nil, nil
			}
			return cut(root, s.Path), nil
		}
		if last {
			if fresh := valueNode(x, s.Value); x == nil {
				grow(n, p, fresh, keyOrder(k, s.Path[:i]))
			} else {
				*x = *fresh
			}
			continue
		}
		if x == nil {
			if s.Value == nil {
				return nil, nil
			}
			x = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			if _, list := s.Path[i+1].(int); list {
				x = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
			}
			grow(n, p, x, keyOrder(k, s.Path[:i]))
			if touched == nil {
				touched = s.Path[:i+1]
			}
		} else if x.Kind == yaml.ScalarNode && x.ShortTag() == "!!null" {
			*x = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: x.Line, Column: x.Column, LineComment: x.LineComment}
			if _, list := s.Path[i+1].(int); list {
				x.Kind, x.Tag = yaml.SequenceNode, "!!seq"
			}
		}
		n = x
	}
	if touched == nil {
		touched = s.Path
	}
	return touched, nil
}

// move moves an entry of a list to another place of it.
func move(root *yaml.Node, path []any, to int) (touched []any, err error) {
	list, last := root, len(path)-1
	for _, p := range path[:last] {
		if x, ok := step(list, p); ok && x != nil {
			list = x
			continue
		}
		return nil, app.Errorf(app.EInvalid, "The text has no such path.")
	}
	at, ok := path[last].(int)
	if n := len(list.Content); !ok || list.Kind != yaml.SequenceNode || at < 0 || at >= n || to < 0 || to >= n {
		return nil, app.Errorf(app.EInvalid, "The text has no such path.")
	}
	x := list.Content[at]
	list.Content = slices.Insert(slices.Delete(list.Content, at, at+1), to, x)
	return path[:last], nil
}

// step goes one down. Nil and true: there is nothing, but there may be.
func step(n *yaml.Node, p any) (*yaml.Node, bool) {
	switch p := p.(type) {
	case string:
		if n.Kind != yaml.MappingNode {
			return nil, false
		}
		_, x := form.Child(n, p)
		return x, true
	case int:
		if n.Kind != yaml.SequenceNode || p < 0 || p > len(n.Content) {
			return nil, false
		}
		if p == len(n.Content) {
			return nil, true
		}
		return n.Content[p], true
	}
	return nil, false
}

// grow adds to a mapping, in the order in which keys are usually written, or to a list.
func grow(n *yaml.Node, p any, x *yaml.Node, order []string) {
	if len(n.Content) == 0 {
		n.Style &^= yaml.FlowStyle
	}
	key, ok := p.(string)
	if !ok {
		n.Content = append(n.Content, x)
		return
	}
	at := insertAt(n, key, order)
	n.Content = slices.Insert(n.Content, at, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, x)
}

// insertAt is behind the last key that usually comes before; at the end where that is not known.
func insertAt(n *yaml.Node, key string, order []string) int {
	rank := slices.Index(order, key)
	if rank < 0 {
		return len(n.Content)
	}
	at := 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		if r := slices.Index(order, n.Content[i].Value); r >= 0 && r < rank {
			at = i + 2
		}
	}
	return at
}

// cut takes a value out, and what has become empty by that.
func cut(root *yaml.Node, path []any) []any {
	for len(path) > 0 {
		n := root
		for _, p := range path[:len(path)-1] {
			n, _ = step(n, p)
		}
		switch p := path[len(path)-1].(type) {
		case string:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == p {
					n.Content = slices.Delete(n.Content, i, i+2)
					break
				}
			}
		case int:
			n.Content = slices.Delete(n.Content, p, p+1)
		}
		if len(n.Content) > 0 || n == root {
			return path
		}
		path = path[:len(path)-1]
	}
	return path
}
