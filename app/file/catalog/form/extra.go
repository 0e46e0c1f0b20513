package form

import (
	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// plainText is text, also where it looks like a number or a truth value: what a provider makes of it is its own to say.
type plainText string

func (p *plainText) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
			*p = plainText(n.Value)
			return
		}
	}
	d.Wrong(n, path, "text, a number, true or false", d.emptyHint(n))
}

func (plainText) schema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "number"}, map[string]any{"type": "boolean"}}}
}

var (
	_ noder   = (*plainText)(nil)
	_ schemer = plainText("")
)

func extraOf(doc map[string]plainText) map[string]string {
	if doc == nil {
		return nil
	}
	out := make(map[string]string, len(doc))
	for k, v := range doc {
		out[k] = string(v)
	}
	return out
}

func extraDoc(extra map[string]string) map[string]plainText {
	if extra == nil {
		return nil
	}
	out := make(map[string]plainText, len(extra))
	for k, v := range extra {
		out[k] = plainText(v)
	}
	return out
}

func (f flavorDoc) flavor() template.Flavor {
	return template.Flavor{Flavor: f.Flavor, CostPerHour: f.CostPerHour, AsleepCostPerHour: f.AsleepCostPerHour, CPU: f.CPU, MemoryGB: f.MemoryGB, DiskGB: f.DiskGB,
		GPUs: f.GPUs, GPU: f.GPU,
		Extra: extraOf(f.Extra)}
}

func flavorDocOf(f template.Flavor) flavorDoc {
	return flavorDoc{Flavor: f.Flavor, CostPerHour: f.CostPerHour, AsleepCostPerHour: f.AsleepCostPerHour, CPU: f.CPU, MemoryGB: f.MemoryGB, DiskGB: f.DiskGB,
		GPUs: f.GPUs, GPU: f.GPU,
		Extra: extraDoc(f.Extra)}
}

func (i imageOnDoc) image() template.Image {
	return template.Image{Image: i.Image, SSHUser: i.SSHUser, Extra: extraOf(i.Extra)}
}

func imageOnDocOf(i template.Image) imageOnDoc {
	return imageOnDoc{Image: i.Image, SSHUser: i.SSHUser, Extra: extraDoc(i.Extra)}
}
