package catalog

import (
	"go.yaml.in/yaml/v3"

	"muster/app"
)

// rate is how many calls an account takes: 10/s, 600/m, 5000/h.
type rate app.Rate

func (x *rate) fromNode(d *decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if r, err := app.ParseRate(n.Value); err == nil {
			*x = rate(r)
			return
		}
	}
	hint := ""
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		hint = "say in which time: " + n.Value + "/s, " + n.Value + "/m or " + n.Value + "/h"
	}
	d.wrong(n, path, "a rate of calls such as 10/s, 600/m or 5000/h", hint)
}

func (rate) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": app.RatePattern}
}

var (
	_ noder   = (*rate)(nil)
	_ schemer = rate{}
)
