package form

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// Plain reads free-form content, such as a cluster configuration, into what JSON can hold: map[string]any, []any,
// string, bool, int, float64 and nil.
func (d *Decoder) Plain(n *yaml.Node, path string) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		d.pairs(n, path, func(key string, k, x *yaml.Node) {
			if k.ShortTag() == "!!merge" {
				d.unknown(k, path, nil)
				return
			}
			m[key] = d.plainIn(x, Join(path, Clip(key)))
		})
		return m
	case yaml.SequenceNode:
		l := make([]any, 0, min(len(n.Content), 1024))
		for i, x := range n.Content {
			l = append(l, d.plainIn(x, fmt.Sprintf("%s[%d]", path, i)))
			if *d.Nodes >= maxNodes {
				break
			}
		}
		return l
	case yaml.ScalarNode:
		return d.scalar(n, path)
	}
	d.Wrong(n, path, "text, a number, true or false, a list or a mapping", "")
	return nil
}

func (d *Decoder) plainIn(n *yaml.Node, path string) any {
	n, ok := d.enter(n, path)
	if !ok {
		return nil
	}
	defer func() { d.depth-- }()
	return d.Plain(n, path)
}

func (d *Decoder) scalar(n *yaml.Node, path string) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!str", "!!timestamp":
		return n.Value
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var i int
		if n.Decode(&i) == nil {
			return i
		}
		d.Wrong(n, path, "a whole number of at most 64 bits", quoteHint(n))
		return nil
	case "!!float":
		var f float64
		if n.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
		d.Wrong(n, path, "a finite number", quoteHint(n))
		return nil
	}
	d.Wrong(n, path, "text, a number, true or false, a list or a mapping", "")
	return nil
}
