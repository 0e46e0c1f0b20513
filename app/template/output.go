package template

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"muster/app"
)

// OutputType is what kind of value an output has, and how people get it.
type OutputType string

// The types. A file is downloaded; a secret is shown on demand, and each time is in the audit log.
const (
	OutputText   OutputType = "text"
	OutputURL    OutputType = "url"
	OutputSecret OutputType = "secret"
	OutputFile   OutputType = "file"
)

// OutputTypes are all of them.
var OutputTypes = []OutputType{OutputText, OutputURL, OutputSecret, OutputFile}

// Output is a value of a cluster that people use from outside, such as a connection string or a kubeconfig. Value has macros, and references
// to the cluster's configuration and to generated secrets.
type Output struct {
	Name        string     `json:"name"`
	Type        OutputType `json:"type"`
	Value       string     `json:"value"`
	Description string     `json:"description,omitempty"`
	File        string     `json:"file,omitempty"` // name of a downloaded file; "": as the output
	Mode        string     `json:"mode,omitempty"` // permissions of the file, such as 0600; "": that
	Env         string     `json:"env,omitempty"`  // name of the variable; "": of the cluster and the output
}

// FileName is the name under which a file is saved.
func (o Output) FileName() string { return cmp.Or(o.File, o.Name) }

// OutputPart is a piece of an output's value: text with macros, or a reference.
type OutputPart struct {
	Text string
	// Config is a path of the configuration, and Secret the name of a secret; "" of a text.
	Config, Secret string
	Escaped        bool // it is written as in a URL
}

var outputReference = regexp.MustCompile(`\$\{(config|secret):([^}|]*)(\|url)?\}`)

// OutputParts takes a value apart.
func OutputParts(value string) (parts []OutputPart) {
	pos := 0
	for _, m := range outputReference.FindAllStringSubmatchIndex(value, -1) {
		if m[0] > pos {
			parts = append(parts, OutputPart{Text: value[pos:m[0]]})
		}
		p := OutputPart{Escaped: m[6] >= 0}
		if name := value[m[4]:m[5]]; value[m[2]:m[3]] == "config" {
			p.Config = name
		} else {
			p.Secret = name
		}
		parts = append(parts, p)
		pos = m[1]
	}
	if pos < len(value) {
		parts = append(parts, OutputPart{Text: value[pos:]})
	}
	return parts
}

// MacrosOf returns the services and facts that the macros of a text name; none of a text whose macros are wrong.
func MacrosOf(text string) (services []string, facts []app.FactName) {
	parts, _ := SplitMacros(text)
	for _, p := range parts {
		if p.Macro == nil || p.Macro.Service == "" {
			continue
		}
		services = append(services, p.Macro.Service)
		if p.Macro.kind == macroFact {
			facts = append(facts, app.FactName{Service: p.Macro.Service, Name: p.Macro.field})
		}
	}
	return services, facts
}

// Uses returns the services and facts that the value names itself, beside those of the configuration.
func (o Output) Uses() (services []string, facts []app.FactName) {
	for _, p := range OutputParts(o.Value) {
		s, f := MacrosOf(p.Text)
		services, facts = append(services, s...), append(facts, f...)
	}
	return services, facts
}

// Secret reports whether the value is only shown on demand: its type says so, or a secret is part of it.
func (o Output) Secret() bool {
	if o.Type == OutputSecret {
		return true
	}
	_, facts := o.Uses()
	return slices.ContainsFunc(OutputParts(o.Value), func(p OutputPart) bool { return p.Secret != "" }) ||
		slices.ContainsFunc(facts, func(f app.FactName) bool { return app.SecretFact(f.Name) })
}

// Variable is the name of the environment variable for an output of the named cluster: SHOP_DB_URL.
func (o Output) Variable(cluster string) string {
	if o.Env != "" {
		return o.Env
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, cluster+"_"+o.Name)
	if name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}
