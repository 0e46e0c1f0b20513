package form

import (
	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// Rate is how many calls an account takes: 10/s, 600/m, 5000/h.
type Rate template.Rate

func (x *Rate) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if r, err := template.ParseRate(n.Value); err == nil {
			*x = Rate(r)
			return
		}
	}
	hint := ""
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		hint = "add a unit: " + n.Value + "/s, " + n.Value + "/m or " + n.Value + "/h"
	}
	d.Wrong(n, path, "a rate such as 10/s, 600/m or 5000/h", hint)
}

func (Rate) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": template.RatePattern}
}

var (
	_ noder   = (*Rate)(nil)
	_ schemer = Rate{}
)
