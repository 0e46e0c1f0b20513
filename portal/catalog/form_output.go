package catalog

import (
	"slices"
	"strconv"
	"strings"

	"muster/app/template"
)

// outputs are values of a cluster for people and programs. The name and mode of a file have fields only if the output is a file, or has them by mistake.
func (b *formBuilder) outputs() {
	s := b.section("Outputs", "Values of a cluster for people and programs, such as addresses, connection strings and files."+b.inherited("Outputs"))
	n := b.length("outputs")
	for i := range n {
		at := func(key string) []any { return []any{"outputs", i, key} }
		kind := b.choose("Type", "text (default)", without(plainWords(template.OutputTypes), []string{string(template.OutputText)}), at("type")...)
		file := template.OutputType(kind.Value) == template.OutputFile
		fields := []*Field{b.text("Name", at("name")...), kind}
		add := func(label, such, key string, fits bool) {
			if !fits && b.tree.At(at(key)...).String() == "" {
				return
			}
			f := b.text(label, at(key)...)
			f.Placeholder = such
			fields = append(fields, f)
		}
		add("Variable", "DATABASE_URL", "env", !file)
		add("File name", "ca.crt", "file", file)
		add("Mode", "0600", "mode", file)
		value := b.area(FieldMacros, "Value", b.exampleOutput(template.OutputType(kind.Value)), at("value")...)
		s.Rows = append(s.Rows, Row{Title: b.rowTitle("Output", "outputs", i), Remove: "remove:" + fieldName([]any{"outputs", i}),
			Fields: append(fields, value, b.line("Description", at("description")...))})
	}
	if n > 0 {
		s.Hints = b.outputReferences()
	}
	s.Add = &Add{Label: "Add output", Value: "add:f/outputs/" + strconv.Itoa(n) + "/name"}
	s.Open = n > 0
}

// rowTitle is an item's name, or its number if it has none yet.
func (b *formBuilder) rowTitle(noun, list string, i int) string {
	if name := b.tree.At(list, i, "name").String(); name != "" {
		return name
	}
	return noun + " " + strconv.Itoa(i+1)
}

// inherited says that a list isn't all that clusters have if the template builds on others.
func (b *formBuilder) inherited(noun string) string {
	if b.tree.At("extends").String() == "" && len(b.tree.At("includes").Names()) == 0 {
		return ""
	}
	return " " + noun + " of the templates that this one extends or includes are added."
}

// line is a text of one line; of several if it has them already, since a browser would join them.
func (b *formBuilder) line(label string, path ...any) *Field {
	f := b.text(label, path...)
	f.Wide = true
	if strings.ContainsAny(f.Value, "\r\n") {
		f.Kind = FieldArea
	}
	return f
}

// exampleService is a service of the template for examples.
func (b *formBuilder) exampleService() string {
	names := b.tree.At("defaults", "services").Names()
	if i := slices.IndexFunc(names, func(n string) bool { return n != "" && !strings.ContainsAny(n, "%[]. ") }); i >= 0 {
		return names[i]
	}
	return "SERVICE"
}

// exampleOutput is an example of a type's value.
func (b *formBuilder) exampleOutput(of template.OutputType) string {
	service := b.exampleService()
	switch of {
	case template.OutputURL:
		return "http://%host.service." + service + "[0]%:${config:" + service + ".port}/"
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
		{Code: "%ip.service." + service + "[0]%", Meaning: "address of the first node with " + service + "; host for its name"},
		{Code: "${config:" + service + ".KEY}", Meaning: "configuration; add |url to escape it for a URL"},
		{Code: "${secret:generated/NAME}", Meaning: "a generated password of the cluster"},
		{Code: "%fact." + service + ".NAME%", Meaning: "a fact that " + service + " reported"},
	}
}
