package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app/catalog"
	"muster/app/template"
	"muster/portal/page"
)

// catalogNames are the names in a tenant's catalog, by kind.
type catalogNames map[string][]string

// formBuilder makes an entry's form from its YAML.
type formBuilder struct {
	tree     *catalog.Node
	schema   map[string]any
	families catalog.Families
	names    catalogNames
	fixed    bool // the name is read-only
	form     Form
	covered  map[string]bool // places that have a field
	parents  map[string]bool // places that have such below them
}

// newCatalogForm makes an entry's form.
func newCatalogForm(kind string, tree *catalog.Node, schema map[string]any, families catalog.Families, names catalogNames, fixed bool) Form {
	b := &formBuilder{tree: tree, schema: schema, families: families, names: names, fixed: fixed, covered: map[string]bool{"kind": true}}
	b.form.Kind = kind
	b.about()
	switch kind {
	case template.KindTemplate:
		b.template()
	case template.KindService:
		b.service()
	case template.KindHardware:
		b.hardware()
	case template.KindImage:
		b.image()
	case template.KindProvider:
		b.provider()
	}
	b.parents = map[string]bool{}
	for place := range b.covered {
		for i, c := range place {
			if c == '.' || c == '[' {
				b.parents[place[:i]] = true
			}
		}
	}
	b.rest(tree, nil)
	return b.form
}

// section adds a section, which is open if it has values.
func (b *formBuilder) section(title, help string, fields ...*Field) *Section {
	s := Section{ID: "part-" + strconv.Itoa(len(b.form.Sections)), Title: title, Help: help, Fields: fields}
	for _, f := range fields {
		s.Open = s.Open || f.Value != "" && (f.Kind != FieldTick || f.Value == "true")
	}
	b.form.Sections = append(b.form.Sections, s)
	return &b.form.Sections[len(b.form.Sections)-1]
}

// fieldName is the name of the input for a place.
func fieldName(path []any) string {
	words := make([]string, len(path))
	for i, p := range path {
		words[i] = fmt.Sprint(p)
	}
	return "f/" + strings.Join(words, "/")
}

// field makes the field of a place, with its value.
func (b *formBuilder) field(kind, label string, path ...any) *Field {
	b.covered[dotted(path)] = true
	f := &Field{Kind: kind, Label: label, Path: path, Name: fieldName(path), Help: schemaDoc(b.schema, path)}
	n := b.tree.At(path...)
	if n == nil {
		return f
	}
	f.Line = n.Line
	f.Value = fieldValue(kind, n)
	return f
}

// fieldValue is a node's value for a kind of field.
func fieldValue(kind string, n *catalog.Node) string {
	switch kind {
	case fieldNames, fieldWholes:
		return strings.Join(n.Names(), ", ")
	case FieldLines:
		return strings.Join(n.Names(), "\n")
	case FieldGroups:
		var lines []string
		for _, g := range n.Items {
			lines = append(lines, strings.Join(g.Names(), ", "))
		}
		return strings.Join(lines, "\n")
	}
	if n.Map || n.List {
		return ""
	}
	return n.Value
}

// text is a text of one line; of several if it has them already, since a browser would join them.
func (b *formBuilder) text(label string, path ...any) *Field {
	f := b.field(fieldText, label, path...)
	if strings.ContainsAny(f.Value, "\r\n") {
		f.Kind = FieldArea
	}
	return f
}

func (b *formBuilder) whole(label string, path ...any) *Field {
	return b.field(FieldWhole, label, path...)
}

func (b *formBuilder) number(label string, path ...any) *Field {
	return b.field(fieldNumber, label, path...)
}

// span is a duration.
func (b *formBuilder) span(label, such string, path ...any) *Field {
	f := b.text(label, path...)
	f.Placeholder = such
	return f
}

func (b *formBuilder) list(label, kind string, path ...any) *Field {
	f := b.field(fieldNames, label, path...)
	f.List, f.Placeholder = "names-"+kind, "a, b, c"
	return f
}

func (b *formBuilder) area(kind, label, such string, path ...any) *Field {
	f := b.field(kind, label, path...)
	f.Placeholder, f.Wide = such, true
	return f
}

// choose makes a selection, which includes the current value in any case.
func (b *formBuilder) choose(label, none string, options []string, path ...any) *Field {
	f := b.field(FieldSelect, label, path...)
	f.Choices = []page.Choice{{Label: none, Chosen: f.Value == ""}}
	if f.Value != "" && !slices.Contains(options, f.Value) {
		options = append(slices.Clone(options), f.Value)
	}
	for _, o := range options {
		f.Choices = append(f.Choices, page.Choice{Value: o, Label: o, Chosen: o == f.Value})
	}
	return f
}

func (b *formBuilder) tick(label string, path ...any) *Field {
	return b.field(FieldTick, label, path...)
}

// keys are the keys of a mapping, in order.
func (b *formBuilder) keys(path ...any) []string {
	if n := b.tree.At(path...); n != nil && n.Map {
		return n.Keys
	}
	return nil
}

// length is the length of a list.
func (b *formBuilder) length(path ...any) int {
	if n := b.tree.At(path...); n != nil && n.List {
		return len(n.Items)
	}
	return 0
}

// without returns the names that have no row yet.
func without(all, have []string) (out []string) {
	for _, n := range all {
		if !slices.Contains(have, n) {
			out = append(out, n)
		}
	}
	return out
}

func (b *formBuilder) about() {
	name := b.text("Name", "name")
	name.Fixed = b.fixed
	label := b.text("Title", "label")
	description := b.area(FieldArea, "Description", "", "description")
	fields := []*Field{name, label, description}
	s := b.section("About", "", fields...)
	s.Open = true
}

// linkRows are links shown with a cluster.
func (b *formBuilder) linkRows() {
	s := b.section("Links", "Links shown with the cluster.")
	for i := range b.length("links") {
		url := b.text("URL", "links", i, "url")
		url.Wide = true
		s.Rows = append(s.Rows, b.row("Link", "links", i, b.text("Label", "links", i, "label"), url))
	}
	s.Add = &Add{Label: "Add link", Value: "add:f/links/" + strconv.Itoa(b.length("links")) + "/label"}
	s.Open = len(s.Rows) > 0
}

// row is an item of a list, with buttons to remove and move it. Its title is the item's name, or its number if it has none.
func (b *formBuilder) row(noun, list string, i int, fields ...*Field) Row {
	place := fieldName([]any{list, i})
	r := Row{Title: b.tree.At(list, i, "name").String(), Remove: "remove:" + place, Fields: fields}
	if r.Title == "" {
		r.Title = noun + " " + strconv.Itoa(i+1)
	}
	if i > 0 {
		r.Up = "up:" + place
	}
	if i < b.length(list)-1 {
		r.Down = "down:" + place
	}
	return r
}

// rest lists the places without a field.
func (b *formBuilder) rest(n *catalog.Node, at []any) {
	for i, x := range n.Items {
		var p any = i
		if n.Map {
			p = n.Keys[i]
		}
		path := append(slices.Clone(at), p)
		switch place := dotted(path); {
		case b.covered[place]:
		case (x.Map || x.List) && b.parents[place]:
			b.rest(x, path)
		case !x.Map && !x.List && x.Value == "":
		default:
			b.form.Rest = append(b.form.Rest, place)
		}
	}
}
