package catalog

import (
	"slices"
	"strconv"
	"strings"

	"muster/app/template"
)

// outputs are values of a cluster for people and programs. What a type doesn't use has a field only if it's set by mistake.
func (b *formBuilder) outputs() {
	s := b.section("Outputs", "Values of a cluster for people and programs, such as addresses, connection strings and files."+b.inherited("Outputs"))
	n := b.length("outputs")
	for i := range n {
		at := func(key string) []any { return []any{"outputs", i, key} }
		kind := b.choose("Type", "text (default)", without(plainWords(template.OutputTypes), []string{string(template.OutputText)}), at("type")...)
		file := template.OutputType(kind.Value) == template.OutputFile
		fields := []*Field{b.text("Name", at("name")...), kind,
			b.area(FieldMacros, "Value", b.exampleOutput(template.OutputType(kind.Value)), at("value")...), b.line("Description", at("description")...)}
		for _, x := range []struct {
			label, such, key string
			used             bool
		}{{"File name", "ca.crt", "file", file}, {"Mode", "0600 (default)", "mode", file}, {"Environment variable", "DATABASE_URL", "env", !file}} {
			if x.used || b.tree.At(at(x.key)...).String() != "" {
				f := b.text(x.label, at(x.key)...)
				f.Placeholder = x.such
				fields = append(fields, f)
			}
		}
		s.Rows = append(s.Rows, b.row("Output", "outputs", i, fields...))
	}
	if n > 0 {
		s.Hints, s.Docs = b.outputReferences(), "outputs#declare-them"
	}
	s.Add = &Add{Label: "Add output", Value: "add:f/outputs/" + strconv.Itoa(n) + "/name"}
	s.Open = n > 0
}

// inherited says that a list isn't all that clusters have if the template builds on others.
func (b *formBuilder) inherited(noun string) string {
	if b.tree.At("extends").String() == "" && len(b.tree.At("includes").Names()) == 0 {
		return ""
	}
	return " Clusters also get the " + strings.ToLower(noun) + " of templates that this one extends or includes."
}

// line is a text of the whole width.
func (b *formBuilder) line(label string, path ...any) *Field {
	f := b.text(label, path...)
	f.Wide = true
	return f
}

// exampleService is a service of the template for examples.
func (b *formBuilder) exampleService() string {
	names := b.tree.At("defaults", "services").Names()
	if i := slices.IndexFunc(names, plainKey); i >= 0 {
		return names[i]
	}
	return "SERVICE"
}

// exampleConfig is a path in the template's configuration for examples.
func (b *formBuilder) exampleConfig() string {
	for _, of := range slices.DeleteFunc(slices.Clone(b.keys("defaults", "config")), func(k string) bool { return !plainKey(k) }) {
		for _, key := range b.keys("defaults", "config", of) {
			if x := b.tree.At("defaults", "config", of, key); !x.Map && !x.List && plainKey(key) {
				return of + "." + key
			}
		}
	}
	return b.exampleService() + ".KEY"
}

// plainKey reports whether a name can be written in macros and references as it is.
func plainKey(name string) bool { return name != "" && !strings.ContainsAny(name, "%$[]{}|. ") }

// exampleOutput is an example of a type's value.
func (b *formBuilder) exampleOutput(of template.OutputType) string {
	service := b.exampleService()
	switch of {
	case template.OutputURL:
		return "https://%host.service." + service + "[0]%/"
	case template.OutputSecret:
		return "${secret:generated/NAME}"
	case template.OutputFile:
		return "%fact." + service + ".NAME%"
	}
	return "%ip.service." + service + "[0]%"
}

// outputReferences are what values can refer to.
func (b *formBuilder) outputReferences() []Hint {
	service := b.exampleService()
	return []Hint{
		{Code: "%ip.service." + service + "[0]%", Meaning: "a node's address"},
		{Code: "%host.service." + service + "[0]%", Meaning: "a node's host name"},
		{Code: "%fact." + service + ".NAME%", Meaning: "a fact of a service"},
		{Code: "${config:" + b.exampleConfig() + "}", Meaning: "the configuration"},
		{Code: "${secret:generated/NAME}", Meaning: "a generated password"},
	}
}
