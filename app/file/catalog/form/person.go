package form

import (
	"time"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// personActionDoc is an action that a person carries out.
type personActionDoc struct {
	Person personDoc `yaml:"person" need:"" doc:"Manual step: a person does the work, and the operation continues when they confirm."`
}

type personDoc struct {
	Ask       string           `yaml:"ask" need:"" doc:"ManualStep, in a sentence or two. Macros are expanded."`
	Help      string           `yaml:"help" doc:"Instructions for the manual work. Macros are expanded."`
	Fields    []personFieldDoc `yaml:"fields" doc:"Values that the person enters. The configuration refers to them as %answer.SERVICE.NAME%."`
	Who       []string         `yaml:"who" doc:"Who can answer besides admins: owner, admins (no one else) and group names. Default: owner."`
	Not       string           `yaml:"not" doc:"requester: the person who started the operation can't answer."`
	Timeout   duration         `yaml:"timeout" doc:"Time to wait for an answer, 1m to 30d. Default: 1d."`
	OnTimeout string           `yaml:"on_timeout" doc:"Action if no one answers in time: fail or continue. Default: fail."`
	Once      bool             `yaml:"once" doc:"Whether one answer applies to all nodes."`
}

// personFieldDoc is a parameter that sets nothing by itself, and may be secret.
type personFieldDoc struct {
	Name     string           `yaml:"name" need:"" doc:"Name of the value: a letter, then letters, digits, '_' and '-'."`
	Label    string           `yaml:"label" doc:"Display name. Default: the name."`
	Help     string           `yaml:"help" doc:"Help text for the field."`
	Type     parameterTypeDoc `yaml:"type" need:"" doc:"Type of the value."`
	Default  scalarDoc        `yaml:"default" doc:"Value if none is entered."`
	Required bool             `yaml:"required" doc:"Whether a value is required."`
	Min      limitDoc         `yaml:"min" doc:"Minimum value, or minimum length of text."`
	Max      limitDoc         `yaml:"max" doc:"Maximum value, or maximum length of text."`
	Pattern  string           `yaml:"pattern" doc:"Regular expression (RE2) that the whole text must match."`
	Options  []optionDoc      `yaml:"options" doc:"Values of a choice."`
	Unit     string           `yaml:"unit" doc:"Unit of a size or duration in the configuration."`
	Secret   bool             `yaml:"secret" doc:"Whether to hide the value and keep it out of logs. Text only."`
}

// asksPerson reports whether a mapping says that a person carries the action out.
func asksPerson(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "person" {
			return true
		}
	}
	return false
}

func (d personDoc) person() *template.Person {
	p := &template.Person{Ask: d.Ask, Help: d.Help, Who: d.Who, Not: d.Not, Timeout: time.Duration(d.Timeout), OnTimeout: template.AnswerChoice(d.OnTimeout), Once: d.Once}
	for _, f := range d.Fields {
		q := parameters([]parameterDoc{{Name: f.Name, Label: f.Label, Help: f.Help, Type: f.Type, Default: f.Default, Required: f.Required, Min: f.Min, Max: f.Max,
			Pattern: f.Pattern, Options: f.Options, Unit: f.Unit}})
		p.Fields = append(p.Fields, template.PersonField{Parameter: q[0], Secret: f.Secret})
	}
	return p
}

// batchesDoc says whether a person looks between batches.
type batchesDoc struct {
	Ask       askDoc   `yaml:"ask" need:"" doc:"true, or the question to ask before the next batch of nodes is changed."`
	Help      string   `yaml:"help" doc:"What to check."`
	Who       []string `yaml:"who" doc:"Who can answer besides admins: owner, admins (no one else) and group names. Default: owner."`
	Not       string   `yaml:"not" doc:"requester: the person who started the operation can't answer."`
	Timeout   duration `yaml:"timeout" doc:"Time to wait for an answer, 1m to 30d. Default: 1d."`
	OnTimeout string   `yaml:"on_timeout" doc:"Action if no one answers in time: fail or continue. Default: fail."`
}

// askDoc is a question in words, or true for the usual one.
type askDoc string

func (a *askDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" && n.Value == "true":
		*a = template.AskBetweenBatches
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value != "":
		*a = askDoc(n.Value)
	default:
		d.Wrong(n, path, "true, or a question as text", "leave batches out to ask no one")
	}
}

func (askDoc) schema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"const": true}, map[string]any{"type": "string", "minLength": 1}}}
}

func (b *batchesDoc) person() *template.Person {
	if b == nil {
		return nil
	}
	return personDoc{Ask: string(b.Ask), Help: b.Help, Who: b.Who, Not: b.Not, Timeout: b.Timeout, OnTimeout: b.OnTimeout}.person()
}

var (
	_ noder   = (*askDoc)(nil)
	_ schemer = askDoc("")
)
