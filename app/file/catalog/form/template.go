package form

import (
	"maps"
	"slices"
	"strings"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// stateDoc is the state of a template.
type stateDoc string

func (s *stateDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	*s = stateDoc(oneWord(d, n, path, template.States))
}

func (stateDoc) schema() map[string]any { return schemaOfWords(template.States) }

// parameterTypeDoc is the type of a parameter.
type parameterTypeDoc string

func (t *parameterTypeDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	*t = parameterTypeDoc(oneWord(d, n, path, template.ParameterTypes))
}

func (parameterTypeDoc) schema() map[string]any { return schemaOfWords(template.ParameterTypes) }

// oneWord reads one of some words.
func oneWord[S ~string](d *Decoder, n *yaml.Node, path string, known []S) string {
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == words[i] {
			return n.Value
		}
	}
	d.Wrong(n, path, "one of "+strings.Join(words, ", "), DidYouMean(n.Value, words))
	return ""
}

func schemaOfWords[S ~string](known []S) map[string]any {
	var one []any
	for _, k := range known {
		one = append(one, map[string]any{"const": string(k)})
	}
	return map[string]any{"oneOf": one}
}

// immutableDoc is a list of parts, or true for every key of the configuration.
type immutableDoc struct {
	config bool
	parts  []string
}

func (i *immutableDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	switch {
	case n.Kind == yaml.SequenceNode:
		d.Value(n, ValueOf(&i.parts), path)
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool":
		i.config, _ = d.truth(n, path)
	case d.Lenient && n.Kind == yaml.ScalarNode && (n.Value == "true" || n.Value == "false"):
		i.config = n.Value == "true"
	default:
		d.Wrong(n, path, "a list of parts, or true for all configuration set here", d.emptyHint(n))
	}
}

func (immutableDoc) schema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "boolean"}, schemaOf[[]string]()}}
}

// paths returns the parts, with the keys of the configuration where all are meant.
func (i immutableDoc) paths(config map[string]any) (out []string) {
	if !i.config {
		return i.parts
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		out = append(out, "config."+key)
	}
	return out
}

type parameterDoc struct {
	Name     string           `yaml:"name" need:"" doc:"Name to use in requests: a letter, then letters, digits, '_' and '-'."`
	Label    string           `yaml:"label" doc:"Display name. Default: the name."`
	Help     string           `yaml:"help" doc:"Help text for the form field."`
	Type     parameterTypeDoc `yaml:"type" need:"" doc:"Type of the value."`
	Default  scalarDoc        `yaml:"default" doc:"Value if the request doesn't set one."`
	Required bool             `yaml:"required" doc:"Whether a value is required."`
	Min      limitDoc         `yaml:"min" doc:"Minimum value, in the same form as values, or minimum length of text."`
	Max      limitDoc         `yaml:"max" doc:"Maximum value, or maximum length of text."`
	Pattern  string           `yaml:"pattern" doc:"Regular expression (RE2) that the whole text must match."`
	Options  []optionDoc      `yaml:"options" doc:"Values of a choice."`
	Unit     string           `yaml:"unit" doc:"Unit in the configuration of a size (B, K, M, G, T; default: B) or a duration (ms, s, m, h, d; default: s)."`
	To       targetsDoc       `yaml:"to" doc:"What the value sets: paths such as config.web.port, or provider, hardware, image, dns_suffix or size. Default: config.NAME."`
}

// scalarDoc is a text, a number or a truth value.
type scalarDoc struct{ value any }

func (s *scalarDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		d.Wrong(n, path, "text, a number, true or false", d.emptyHint(n))
		return
	}
	s.value = d.scalar(n, path)
}

func (scalarDoc) schema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "number"}, map[string]any{"type": "boolean"}}}
}

// limitDoc is a number, or a text such as 10G or 8h.
type limitDoc string

func (l *limitDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!str", "!!int", "!!float":
			*l = limitDoc(n.Value)
			return
		}
	}
	d.Wrong(n, path, "a number, or text such as 10G or 8h", "")
}

func (limitDoc) schema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "number"}}}
}

// optionDoc is a value of a choice, or the value with a label.
type optionDoc struct {
	Value string `yaml:"value" need:"" doc:"The value."`
	Label string `yaml:"label" doc:"Display name."`
}

func (o *optionDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind != yaml.MappingNode {
		o.Value, _ = d.text(n, path)
		return
	}
	type mapping optionDoc
	d.Value(n, ValueOf((*mapping)(o)), path)
}

func (optionDoc) schema() map[string]any {
	type mapping optionDoc
	return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, schemaOf[mapping]()}}
}

// targetsDoc is a text or a list of texts.
type targetsDoc []string

func (t *targetsDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.SequenceNode {
		d.Value(n, ValueOf((*[]string)(t)), path)
		return
	}
	if s, ok := d.text(n, path); ok {
		*t = targetsDoc{s}
	}
}

func (targetsDoc) schema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, schemaOf[[]string]()}}
}

func parameters(docs []parameterDoc) (out []template.Parameter) {
	for _, p := range docs {
		q := template.Parameter{Name: p.Name, Label: p.Label, Help: p.Help, Type: template.ParameterType(p.Type), Default: p.Default.value, Required: p.Required,
			Min: string(p.Min), Max: string(p.Max), Pattern: p.Pattern, Unit: p.Unit, To: p.To}
		for _, o := range p.Options {
			q.Options = append(q.Options, template.ParameterOption(o))
		}
		out = append(out, q)
	}
	return out
}
