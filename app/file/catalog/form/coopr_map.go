package form

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// What hardware and images are called at each provider. Coopr leaves out a provider for which no name is given; the rest of the entry is good.
type (
	cooprFlavors  map[string]cooprFlavor
	cooprImagesOn map[string]cooprImageOn
)

var (
	_ noder = (*cooprFlavors)(nil)
	_ noder = (*cooprImagesOn)(nil)
)

func (m *cooprFlavors) fromNode(d *Decoder, n *yaml.Node, path string) {
	d.named(n, reflect.ValueOf(m).Elem(), path, "flavor")
}

func (m *cooprImagesOn) fromNode(d *Decoder, n *yaml.Node, path string) {
	d.named(n, reflect.ValueOf(m).Elem(), path, "image")
}

// named reads a table of which each value must have a key. Values without it are left out, with a warning.
func (d *Decoder) named(n *yaml.Node, v reflect.Value, path, key string) {
	if n.Kind == yaml.MappingNode {
		whole := *n
		whole.Content = nil
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, x := n.Content[i], Follow(n.Content[i+1])
			if _, name := Child(x, key); x.Kind == yaml.MappingNode && (name == nil || d.absent(name) || name.Kind == yaml.ScalarNode && name.Value == "") {
				at := Join(path, Clip(k.Value))
				d.Report(k, at, SeverityWarning, at+" has no "+key+" and is ignored", "")
				continue
			}
			whole.Content = append(whole.Content, k, n.Content[i+1])
		}
		n = &whole
	}
	d.table(n, v, path)
}
