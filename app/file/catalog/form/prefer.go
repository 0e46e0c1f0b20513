package form

import (
	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// preferWord chooses among layouts.
type preferWord template.Preference

const preferPattern = `^(packed|cheapest|spread)$`

var preferences = []string{string(template.PreferPacked), string(template.PreferCheapest), string(template.PreferSpread)}

func (p *preferWord) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		for _, known := range preferences {
			if n.Value == known {
				*p = preferWord(known)
				return
			}
		}
	}
	d.Wrong(n, path, "packed, cheapest or spread", DidYouMean(n.Value, preferences))
}

func (preferWord) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": preferPattern}
}

var (
	_ noder   = (*preferWord)(nil)
	_ schemer = preferWord("")
)
