package form

import (
	"time"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// personActionDoc is an action that a person carries out.
type personActionDoc struct {
	Person personDoc `yaml:"person" need:"" doc:"A person carries it out instead of a tool: the operation goes on when the person says so."`
}

type personDoc struct {
	Ask       string           `yaml:"ask" need:"" doc:"The question, in a sentence or two; macros in it are expanded."`
	Help      string           `yaml:"help" doc:"What is to be done by hand, and how; macros in it are expanded."`
	Fields    []personFieldDoc `yaml:"fields" doc:"Values that the person types. The configuration refers to them as %answer.SERVICE.NAME%."`
	Who       []string         `yaml:"who" doc:"Who may answer beside admins: owner, admins (nobody else) and names of groups; the owner where absent."`
	Not       string           `yaml:"not" doc:"requester: whoever asked for the operation may not answer."`
	Timeout   duration         `yaml:"timeout" doc:"How long to wait for an answer, 1m to 30d; 1d where absent or 0."`
	OnTimeout string           `yaml:"on_timeout" doc:"What becomes of the step where nobody answers in time: fail, or go_on. fail where absent."`
	Once      bool             `yaml:"once" doc:"Whether one answer counts for all nodes."`
}

// personFieldDoc is a parameter that sets nothing by itself, and may be secret.
type personFieldDoc struct {
	Name     string           `yaml:"name" need:"" doc:"The name of the value: a letter, then letters, digits, '_' and '-'."`
	Label    string           `yaml:"label" doc:"A title for people; the name where absent."`
	Help     string           `yaml:"help" doc:"A sentence for the person who types it."`
	Type     parameterTypeDoc `yaml:"type" need:"" doc:"What kind of value it takes."`
	Default  scalarDoc        `yaml:"default" doc:"The value where none is typed."`
	Required bool             `yaml:"required" doc:"Whether there must be a value."`
	Min      limitDoc         `yaml:"min" doc:"The least value; of a text, how many letters it has at least."`
	Max      limitDoc         `yaml:"max" doc:"The greatest value; of a text, how many letters it has at most."`
	Pattern  string           `yaml:"pattern" doc:"A regular expression (RE2) that the whole of a text fits."`
	Options  []optionDoc      `yaml:"options" doc:"The values of a choice."`
	Unit     string           `yaml:"unit" doc:"In what a size or a duration is given to the configuration."`
	Secret   bool             `yaml:"secret" doc:"Whether it is shown to nobody, and kept out of logs; of a text only."`
}

// asksPerson tells whether a mapping says that a person carries the action out.
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
	Ask       askDoc   `yaml:"ask" need:"" doc:"true, or the question in words: a person looks before the next batch of nodes is changed."`
	Help      string   `yaml:"help" doc:"What is to be looked at."`
	Who       []string `yaml:"who" doc:"Who may answer beside admins: owner, admins (nobody else) and names of groups; the owner where absent."`
	Not       string   `yaml:"not" doc:"requester: whoever asked for the operation may not answer."`
	Timeout   duration `yaml:"timeout" doc:"How long to wait for an answer, 1m to 30d; 1d where absent or 0."`
	OnTimeout string   `yaml:"on_timeout" doc:"What happens where nobody answers in time: fail, or go_on. fail where absent."`
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
		d.Wrong(n, path, "true, or a question in words", "leave batches out where nobody is to be asked")
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
