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
		on.Placeholder, on.Wide = "all, or service="+b.exampleService(), true
		s.Rows = append(s.Rows, b.row("Action", "actions", i,
			b.text("Name", at("name")...), b.text("Title", at("label")...), b.line("Description", at("description")...),
			b.choose("Who can run it", "user (default)", []string{string(template.ActionOwners), string(template.ActionAdmins)}, at("who")...),
			b.tick("Require approval", at("approval")...), on, b.area(FieldCode, "Script", "", at("run")...),
			b.span("Timeout", "30m", at("timeout")...), b.whole("Nodes at a time", at("batch")...)))
	}
	s.Add = &Add{Label: "Add action", Value: "add:f/actions/" + strconv.Itoa(n) + "/name"}
	s.Open = n > 0
}
