package catalog

import (
	"strings"

	"muster/app/family"
	"muster/app/template"
)

var serviceActions = []struct{ name, title string }{
	{"install", "Install"}, {"configure", "Configure"}, {"initialize", "Initialize"}, {"start", "Start"}, {"reload", "Reload"}, {"stop", "Stop"}, {"remove", "Remove"},
}

func (b *formBuilder) service() {
	for _, a := range serviceActions {
		b.action(a.name, a.title)
	}
	b.section("Dependencies", "“Requires” needs the service to exist; “uses” only sets the order if it does.",
		b.list("Install requires", template.KindService, "install", "requires"), b.list("Install uses", template.KindService, "install", "uses"),
		b.list("Start requires", template.KindService, "runtime", "requires"), b.list("Start uses", template.KindService, "runtime", "uses"),
		b.list("Also provides", "provides", "provides"), b.list("Conflicts with", template.KindService, "conflicts"))
	b.section("Node resources", "", b.number("Cores", "needs", "cpu"), b.number("Memory (GiB)", "needs", "memory_gb"), b.number("Disk (GiB)", "needs", "disk_gb"),
		b.number("GPUs", "needs", "gpus"))
	command := b.text("Command", "health", "command")
	command.Wide = true
	b.section("Health", "Check health by command, TCP or HTTP.", command, b.field(fieldScalar, "TCP port", "health", "tcp"),
		b.field(fieldScalar, "HTTP port", "health", "http", "port"), b.text("HTTP path", "health", "http", "path"), b.whole("HTTP status", "health", "http", "status"),
		b.span("Check timeout", "5s", "health", "timeout"), b.span("Startup timeout", "1m", "health", "wait"), b.whole("Consecutive failures", "health", "failures"))
	b.section("Configuration", "", b.list("Keys read", "reads", "reads"))
	b.linkRows()
}

// action has the fields of the action's automator. In YAML it's a script or, in the long form, a mapping.
func (b *formBuilder) action(name, title string) {
	n := b.tree.At("actions", name)
	switch {
	case n.At("person") != nil:
		b.covered["actions."+name] = false
		s := b.section(title, "Manual step; edit it in YAML.")
		s.Open = false
		return
	case n == nil, !n.Map:
		script := b.area(FieldCode, "Script", "", "actions", name)
		s := b.section(title, schemaDoc(b.schema, []any{"actions", name}), script)
		s.Open = n != nil
		if name == "install" || name == "start" {
			s.Open = true
		}
		fields := b.automators(name, "shell")
		if n != nil && fields != nil {
			s.Fields = append([]*Field{fields}, s.Fields...)
		}
		return
	}
	using := n.At("automator").String()
	fields := []*Field{}
	if f := b.automators(name, using); f != nil {
		fields = append(fields, f)
	}
	fields = append(fields, b.span("Attempt timeout", "5m", "actions", name, "timeout"))
	for _, d := range b.families.Automators {
		if d.Name != using {
			continue
		}
		for _, f := range d.Fields {
			field := b.field(fieldText, f.Label, "actions", name, "fields", f.Name)
			if f.Kind() == family.FieldLines || len(field.Value) > 80 || strings.Contains(field.Value, "\n") {
				field.Kind, field.Wide = FieldCode, true
			}
			options := f.Options
			if f.Kind() == family.FieldBool {
				options = []string{"true", "false"}
			}
			if len(options) > 0 {
				field = b.choose(f.Label, "default", options, "actions", name, "fields", f.Name)
			}
			field.Help, field.HelpBelow = f.Help, true
			fields = append(fields, field)
		}
	}
	s := b.section(title, schemaDoc(b.schema, []any{"actions", name}), fields...)
	s.Open = true
}

// automators selects the automator; nil if there is only one.
func (b *formBuilder) automators(action, using string) *Field {
	var names []string
	for _, d := range b.families.Automators {
		names = append(names, d.Name)
	}
	if len(names) == 1 && using == names[0] {
		b.covered["actions."+action+".automator"] = true
		return nil
	}
	f := b.choose("Automator", "Select…", names, "actions", action, "automator")
	if f.Value == "" {
		f.Value = using
		for i := range f.Choices {
			f.Choices[i].Chosen = f.Choices[i].Value == using
		}
	}
	return f
}
