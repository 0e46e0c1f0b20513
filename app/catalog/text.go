package catalog

// Texts reads and changes the text of one entry, value by value, so that a form can stand beside it. It is pure; app/file/catalog is one.
type Texts interface {
	// Tree returns what a text says. EInvalid where it is no YAML, or holds more than one document; an empty text returns an empty mapping.
	Tree(text string) (*Node, error)
	// Set changes values of a text, one after the other, and leaves all else as it was written, comments and spaces too, as far as that can
	// be. EInvalid where the text cannot be read, or a path leads through something that is neither a mapping nor a list.
	Set(text string, sets ...Set) (string, error)
}

// Set is a value to be put into a text.
type Set struct {
	// Path is made of keys (string) and places in lists (int); the place behind the last one adds an entry.
	Path []any
	// Value is nil to take it out, with what is empty then; a string, int64, float64 or bool; []string, a list of names, of which those
	// that are in the list already stay as they are written; []any, a list of plain values; [][]string, groups of names; map[string]any, an empty
	// mapping to begin with; or To, a place in the list for the entry.
	Value any
}

// To is the place in its list to which an entry moves, with its comments.
type To int

// Node is a part of a text: a mapping, a list, or a plain value.
type Node struct {
	Keys  []string // of a mapping, in the order of the text
	Items []*Node  // the values of the keys, or the entries of a list
	Map   bool
	List  bool
	Value string // of a plain value, as it is written without quotes
	Text  bool   // the plain value is a text, and not a number, a truth value or nothing
	Line  int    // where it begins, from 1; of the value of a key, the key's
}

// At returns a part of it; nil where there is none.
func (n *Node) At(path ...any) *Node {
	for _, p := range path {
		if n == nil {
			return nil
		}
		switch p := p.(type) {
		case int:
			if !n.List || p < 0 || p >= len(n.Items) {
				return nil
			}
			n = n.Items[p]
		case string:
			n = n.key(p)
		default:
			return nil
		}
	}
	return n
}

func (n *Node) key(name string) *Node {
	if !n.Map {
		return nil
	}
	for i, k := range n.Keys {
		if k == name {
			return n.Items[i]
		}
	}
	return nil
}

// String is the plain value; "" of all else.
func (n *Node) String() string {
	if n == nil {
		return ""
	}
	return n.Value
}

// Names are the entries of a list of names, those that have more to say under their key name; a plain value is a list of one.
func (n *Node) Names() (out []string) {
	switch {
	case n == nil:
	case n.List:
		for _, x := range n.Items {
			switch name := x.key("name"); {
			case x.Map && name != nil:
				out = append(out, name.Value)
			case !x.Map && !x.List:
				out = append(out, x.Value)
			}
		}
	case !n.Map && n.Value != "":
		out = append(out, n.Value)
	}
	return out
}
