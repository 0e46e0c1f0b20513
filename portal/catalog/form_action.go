package catalog

import (
	"strconv"

	"muster/app/template"
)

// savedActions are scripts that people can run on clusters' nodes. Their parameters are edited in YAML only.
func (b *formBuilder) savedActions() {
	s := b.section("Actions", "Scripts that people can run on a cluster's nodes, such as a backup. Edit their parameters in YAML."+b.inherited("Actions"))
	n := b.length("actions")
	for i := range n {
		at := func(key string) []any { return []any{"actions", i, key} }
		on := b.list("Nodes", "nodes", at("on")...)
		on.Placeholder = "all, or service=" + b.exampleService()
		script := b.area(FieldCode, "Script", "", at("run")...)
		s.Rows = append(s.Rows, Row{Title: b.rowTitle("Action", "actions", i), Remove: "remove:" + fieldName([]any{"actions", i}), Fields: []*Field{
			b.text("Name", at("name")...), b.text("Title", at("label")...), on,
			b.choose("Who can run it", "user (default)", []string{string(template.ActionOwners), string(template.ActionAdmins)}, at("who")...),
			b.span("Timeout", "30m", at("timeout")...), b.whole("Nodes at a time", at("batch")...), b.tick("Require approval", at("approval")...),
			script, b.line("Description", at("description")...),
		}})
	}
	s.Add = &Add{Label: "Add action", Value: "add:f/actions/" + strconv.Itoa(n) + "/name"}
	s.Open = n > 0
}
